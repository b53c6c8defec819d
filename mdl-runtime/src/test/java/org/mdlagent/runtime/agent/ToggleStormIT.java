package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SiteProfile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;

/// Probes that are switched on and off all the time, under three threads that run through them, change nothing of
/// what the program computes.
class ToggleStormIT {
    private static final int LINE_BYTES = 64;
    private static final int CALL_BYTES = 5;
    private static final int FUNCTIONS = 200;
    private static final long TOGGLES_MIN = 200_000;

    @TempDir
    Path directory;

    @Test
    void shouldComputeTheSameWhileProbesToggle() throws Exception {
        assertThat(run("-O2").at("/overhead/toggles").asLong()).isPositive();
    }

    @Tag("soak")
    @ParameterizedTest
    @ValueSource(strings = {"-O2", "-O2 -fno-plt", "-O2 -fPIE -fcf-protection=full"})
    void shouldComputeTheSameWhileProbesToggleOftenAndAllFunctionsAreSampled(String flags) throws Exception {
        JsonNode report = run(flags);

        long toggles = report.at("/overhead/toggles").asLong();
        System.out.printf("%s: %,d toggles, %s samples%n", flags, toggles, report.at("/overhead/samples"));
        assertThat(toggles).isGreaterThan(TOGGLES_MIN);
        assertThat(Dist.calls(report).keySet())
                .contains("main", "storm")
                .filteredOn(name -> name.matches("(value|last|deep|wide)_\\d+"))
                .hasSize(FUNCTIONS);
    }

    /// The report of a run that has computed what it computes without the agent.
    private JsonNode run(String flags) throws Exception {
        List<String> all = new ArrayList<>(List.of("-finstrument-functions", "-fno-align-functions"));
        all.addAll(List.of(flags.split(" ")));
        Path program = Dist.compile(directory, "storm", all.toArray(String[]::new));
        Dist.Outcome alone = Dist.run(directory, Map.of(), List.of(program.toString()));
        assertThat(alone.status()).isZero();
        assertThat(alone.text()).matches("([0-9a-f]{16}\n){3}");
        Path session = directory.resolve("session");

        Dist.Outcome under = Dist.run(
                directory,
                Dist.preload("wait,sliced=*,budgetPercent=100,session=" + session),
                List.of(program.toString()));

        assertThat(under.out()).isEqualTo(alone.out());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.status()).isZero();
        assertSitesLieEverywhere(session);
        JsonNode report = Dist.report(directory, session);
        assertThat(report.get("unmatched").asLong()).isZero();
        return report;
    }

    private static void assertSitesLieEverywhere(Path session) throws Exception {
        TreeSet<Long> offsets = new TreeSet<>();
        TreeSet<SiteProfile.Kind> kinds = new TreeSet<>();
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().state()).isEqualTo(SessionFacts.State.ENDED);
            for (SiteProfile site : reader.sites()) {
                offsets.add(site.address() % LINE_BYTES);
                kinds.add(site.kind());
            }
        }
        assertThat(offsets).hasSizeGreaterThan(LINE_BYTES * 3 / 4).anyMatch(offset -> offset > LINE_BYTES - CALL_BYTES);
        assertThat(kinds).containsExactly(SiteProfile.Kind.ENTRY, SiteProfile.Kind.EXIT, SiteProfile.Kind.SIBLING_EXIT);
    }
}
