package org.mdlagent.profiler.slice;

import java.util.Arrays;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// By function: its rows in the blocks of threads, those of ended ones too.
///
/// Most functions have none, and most of the others have them in few threads: so each block's table is gone through
/// once.
final class ThreadRows {
    /// Behind the last row of a function.
    static final int NONE = -1;

    private final ThreadBlocks threads;

    /// By function: where its first row is, in the arrays below; and by row: where the next one is.
    private int[] first = {};

    private int[] next = {};
    private long[] rows = {};
    private int count;

    private long[] ofThread = {};

    /// @param header address of the session's header
    ThreadRows(long header) {
        threads = new ThreadBlocks(header);
    }

    /// Looks at all threads.
    void read(int functions) {
        if (first.length != functions) {
            first = new int[functions];
            ofThread = new long[functions];
        }
        Arrays.fill(first, NONE);
        count = 0;
        for (ThreadBlock thread : threads) {
            long table = thread.rows();
            if (table != 0) {
                Memory.copy(table, ofThread);
                addThread();
            }
        }
    }

    private void addThread() {
        for (int i = 0; i < ofThread.length; i++) {
            if (ofThread[i] != 0) {
                add(i, ofThread[i]);
            }
        }
    }

    private void add(int function, long row) {
        if (count == rows.length) {
            rows = Arrays.copyOf(rows, Math.max(64, 2 * count));
            next = Arrays.copyOf(next, rows.length);
        }
        rows[count] = row;
        next[count] = first[function];
        first[function] = count++;
    }

    /// Where the rows of a function begin; [#NONE] where it has none.
    int first(int function) {
        return first[function];
    }

    /// Where a function's rows go on behind one of them; [#NONE] behind the last.
    int next(int at) {
        return next[at];
    }

    /// Address of a row.
    long row(int at) {
        return rows[at];
    }
}
