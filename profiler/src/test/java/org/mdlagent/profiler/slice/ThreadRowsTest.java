package org.mdlagent.profiler.slice;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;

class ThreadRowsTest {
    private static final int FUNCTIONS = 100;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment header = arena.allocate(HeaderDescriptor.SIZE, Long.BYTES);
    private final ThreadRows rows = new ThreadRows(header.address());

    /// A thread that has come, with a table of rows, or without one.
    private MemorySegment thread(boolean hasTable) {
        MemorySegment thread = arena.allocate(ThreadDescriptor.SIZE, Long.BYTES);
        MemorySegment table = arena.allocate((long) FUNCTIONS * Long.BYTES, Long.BYTES);
        thread.set(ValueLayout.JAVA_LONG, ThreadDescriptor.ROWS, hasTable ? table.address() : 0);
        thread.set(
                ValueLayout.JAVA_LONG,
                ThreadDescriptor.NEXT,
                header.get(ValueLayout.JAVA_LONG, HeaderDescriptor.THREADS));
        header.set(ValueLayout.JAVA_LONG, HeaderDescriptor.THREADS, thread.address());
        return table;
    }

    private List<Long> rowsOf(int function) {
        List<Long> found = new ArrayList<>();
        for (int at = rows.first(function); at != ThreadRows.NONE; at = rows.next(at)) {
            found.add(rows.row(at));
        }
        return found;
    }

    @Test
    void shouldFindTheRowsOfAFunctionInEachThreadThatHasOne() {
        for (int i = 0; i < FUNCTIONS; i++) {
            MemorySegment table = thread(true);
            for (int function = i; function < FUNCTIONS; function++) {
                table.setAtIndex(ValueLayout.JAVA_LONG, function, 1000L * function + i + 1);
            }
        }
        thread(false);
        rows.read(FUNCTIONS);
        for (int function = 0; function < FUNCTIONS; function++) {
            List<Long> expected = new ArrayList<>();
            for (int i = 0; i <= function; i++) {
                expected.add(1000L * function + i + 1);
            }
            assertThat(rowsOf(function)).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    @Test
    void shouldSeeThreadsAndRowsThatHaveComeSinceAndForgetTheOldSight() {
        MemorySegment table = thread(true);
        table.setAtIndex(ValueLayout.JAVA_LONG, 3, 7);
        rows.read(FUNCTIONS / 2);
        assertThat(rowsOf(3)).containsExactly(7L);
        table.setAtIndex(ValueLayout.JAVA_LONG, FUNCTIONS - 1, 8);
        thread(true).setAtIndex(ValueLayout.JAVA_LONG, 3, 9);
        rows.read(FUNCTIONS);
        assertThat(rowsOf(3)).containsExactlyInAnyOrder(7L, 9L);
        assertThat(rowsOf(FUNCTIONS - 1)).containsExactly(8L);
        assertThat(rowsOf(0)).isEmpty();
    }
}
