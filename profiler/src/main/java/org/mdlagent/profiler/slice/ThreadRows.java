package org.mdlagent.profiler.slice;

import java.util.Arrays;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// By function: its rows in all thread blocks, those of ended threads included.
///
/// Most functions have none, and most others have them in few threads, so each block's table is scanned only
/// once.
final class ThreadRows {
    /// End of a function's list of rows.
    static final int NONE = -1;

    private final ThreadBlocks threads;

    /// By function: index of its first row in the arrays below; and by row: index of the next one.
    private int[] first = {};

    private int[] next = {};
    private long[] rows = {};
    private int count;

    private long[] ofThread = {};

    /// @param header address of the session's header
    ThreadRows(long header) {
        threads = new ThreadBlocks(header);
    }

    /// Reads all threads.
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

    /// A function's first row; [#NONE] if it has none.
    int first(int function) {
        return first[function];
    }

    /// The row after one of a function; [#NONE] after the last.
    int next(int at) {
        return next[at];
    }

    /// Address of a row.
    long row(int at) {
        return rows[at];
    }
}
