package org.mdlagent.stress.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.mdlagent.stress.torture.Cell.Interference;
import org.mdlagent.stress.torture.Cell.Mode;
import org.mdlagent.stress.torture.Cell.Sync;

class MatrixTest {
    @Test
    void shouldHaveCellsForAllPairsOfDimensions() {
        List<Cell> cells = List.copyOf(Matrix.cells().values());

        for (Kind kind : Kind.values()) {
            List<Cell> ofKind = cells.stream()
                    .filter(cell -> cell.kind() == kind && cell.everyOffset())
                    .toList();
            assertThat(values(ofKind, Cell::unit)).as(kind + " by unit").hasSize(2);
            assertThat(values(ofKind, Cell::sync)).as(kind + " by sync").hasSize(Sync.values().length);
            assertThat(values(ofKind, Cell::executors))
                    .as(kind + " by executors")
                    .hasSize(4);
            assertThat(values(ofKind, Cell::patchers)).as(kind + " by patchers").hasSize(3);
            assertThat(values(ofKind, Cell::mode))
                    .as(kind + " by mode")
                    .hasSize(kind.form() == null || kind.isPun() ? 3 : 4);
            assertThat(values(ofKind, Cell::interference))
                    .as(kind + " by interference")
                    .hasSize(Interference.values().length);
        }
        for (Mode mode : Mode.values()) {
            List<Cell> ofMode =
                    cells.stream().filter(cell -> cell.mode() == mode).toList();
            assertThat(values(ofMode, Cell::interference))
                    .as(mode + " by interference")
                    .hasSize(Interference.values().length);
            assertThat(values(ofMode, Cell::patchers)).as(mode + " by patchers").hasSize(3);
        }
    }

    @Test
    void shouldHaveForkedChildrenOfAttachedProcessesForJumpsThatComeInSteps() {
        for (Kind kind : Kind.values()) {
            boolean tested = Matrix.cells().values().stream()
                    .anyMatch(cell -> cell.kind() == kind
                            && cell.mode() == Mode.ATTACH
                            && cell.interference() == Interference.FORK
                            && cell.unit() == 8);
            assertThat(tested || !kind.isCut()).as(kind.label()).isTrue();
        }
    }

    private static <T> List<T> values(List<Cell> cells, Function<Cell, T> dimension) {
        return cells.stream().map(dimension).distinct().toList();
    }
}
