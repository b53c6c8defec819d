package org.mdlagent.stress.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.stress.torture.Torture.Options;

/// The torture: each cell until it has made some toggles, or all cells for one minute or `-Dtorture.minutes=N`.
class TortureIT {
    private static final double MINUTES = Double.parseDouble(System.getProperty("torture.minutes", "1"));

    /// A tenth of what the slowest machine tried has made.
    private static final long TOGGLES_PER_MINUTE_MIN = 10_000_000;

    private static final long FEW_TOGGLES = 100;

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void shouldExecuteNothingButOldAndNewVersionsInEachCell() {
        Map<String, Cell> cells = new TreeMap<>(Matrix.cells());
        cells.values().removeIf(Torture::isBeyond);

        List<CellResult> results =
                new Torture(Torture.harness(), System.out, System.err, false).run(cells, FEW_TOGGLES);

        assertThat(results).extracting(CellResult::name).containsExactlyInAnyOrderElementsOf(cells.keySet());
        // Stalls depend on timing.
        assertThat(results)
                .allSatisfy(result -> assertThat(result.get("wrong") + result.get("failed"))
                        .as(result.name() + ": " + result.detail())
                        .isZero());
    }

    @Tag("soak")
    @Test
    void shouldExecuteNothingButOldAndNewVersions() {
        Torture torture = new Torture(Torture.harness(), System.out, System.err, false);

        Torture.Summary summary = torture.run(new Options(MINUTES, "*", 0));

        assertThat(summary).isNotNull();
        assertThat(summary.twins())
                .hasSize(Twin.values().length)
                .allSatisfy(twin -> assertThat(twin.isBroken())
                        .as(twin.name() + " must be seen to be broken: " + twin.detail())
                        .isTrue());
        assertThat(summary.cells())
                .extracting(CellResult::name)
                .containsExactlyInAnyOrderElementsOf(Matrix.cells().keySet());
        assertThat(summary.bad().stream().map(cell -> cell.name() + ": " + cell.detail()))
                .isEmpty();
        assertThat(summary.throughput().isGood())
                .as(summary.throughput().detail())
                .isTrue();
        assertThat(summary.wrong()).isZero();
        assertThat(summary.stalled()).isZero();
        assertThat(summary.toggles()).isGreaterThan((long) (TOGGLES_PER_MINUTE_MIN * MINUTES));
        assertThat(Torture.Summary.sum(summary.cells(), "traps"))
                .as("threads that met a trapping byte")
                .isGreaterThan(10_000);
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "HEAD_DOES_NOTHING",
                "HEAD_IS_VEX",
                "HEAD_IS_A_PREFIX",
                "GATE_STRADDLES",
                "TORN_JUMP",
                "STEPS_WITHOUT_TRAP",
                "STEPS_WITHOUT_ROW",
                "ATTACHED_STEPS_WITHOUT_TRAP",
                "ATTACH_WITH_A_GAP"
            })
    void shouldSeeThatAJumpOrAnAttachIsBroken(Twin twin) {
        CellResult result = new CellProcesses(Torture.harness())
                .run(List.of(twin.label()), 0, 0, name -> {})
                .getFirst();

        assertThat(result.get("failed")).as(result.line()).isZero();
        assertThat(result.isBroken()).as(result.line()).isTrue();
    }

    @Test
    void shouldRefuseWhatItDoesNotUnderstand() {
        assertThat(Options.parse(new String[] {"--minutes", "0.5", "--cell", "patch/*", "--until-toggles", "1e6"}))
                .isEqualTo(new Options(0.5, "patch/*", 1_000_000));
        for (String wrong : List.of("--minutes", "--minutes -1", "--minutes x", "--cells *")) {
            assertThatThrownBy(() -> Options.parse(wrong.split(" ")))
                    .as(wrong)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldKeepAResultThroughItsLine() {
        CellResult result = new CellResult("patch/x");
        result.addToggles("3|2", 5);
        result.addToggles("0|5", 6);
        result.tell("a\tb\nc");

        CellResult parsed = CellResult.parse(result.line());

        assertThat(parsed.name()).isEqualTo("patch/x");
        assertThat(parsed.togglesBySplit()).containsExactly(Map.entry("0|5", 6L), Map.entry("3|2", 5L));
        assertThat(parsed.get("toggles")).isEqualTo(11);
        assertThat(parsed.detail()).isEqualTo("a b c");
    }
}
