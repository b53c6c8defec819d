package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// What a timed call leaves as it is: the caller's registers, for conservative collectors, and stacks that are not the
/// thread's own, where functions leave for each other. Each number of such calls, from none to 300, on each kind of
/// stack; and a million on one of 64 KiB.
class FramesIT {
    private static final Pattern CALLS = Pattern.compile("calls is_visible (\\d+), even and odd (\\d+)");

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "'', --exact",
        "'', --exact=*",
        "'', --counted=*",
        "'', --sliced=*",
        "-fpatchable-function-entry=5, --exact"
    })
    void shouldHideNothing(String flags, String tier) throws Exception {
        List<String> all = new ArrayList<>(List.of("-pthread"));
        if (!flags.isEmpty()) {
            all.addAll(List.of(flags.split(" ")));
        }
        Path program = Dist.compile(directory, "frames", all.toArray(String[]::new));
        Path session = directory.resolve("session");

        Dist.Outcome alone = Dist.run(directory, Map.of(), List.of(program.toString()));
        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", tier, "-o", session.toString(), "--", program.toString()));

        assertThat(alone.text()).startsWith("visible 1000 of 1000\n");
        assertThat(run.text()).isEqualTo(alone.text());
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        JsonNode report = Dist.report(directory, session);
        Matcher counted = CALLS.matcher(run.text());
        assertThat(counted.find()).isTrue();
        if (!tier.equals("--sliced=*")) {
            Map<String, Long> calls = Dist.calls(report);
            assertThat(calls.get("is_visible")).isEqualTo(Long.parseLong(counted.group(1)));
            assertThat(calls.get("even") + calls.get("odd")).isEqualTo(Long.parseLong(counted.group(2)));
        }
        if (tier.startsWith("--exact")) {
            for (String name : List.of("even", "odd", "leaves_for_library")) {
                JsonNode function = Dist.function(report, name);
                assertThat(function.get("sampled").asLong())
                        .isEqualTo(function.get("calls").asLong());
            }
        }
    }
}
