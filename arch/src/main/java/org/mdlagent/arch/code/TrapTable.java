package org.mdlagent.arch.code;

import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.TrapDescriptor;
import org.mdlagent.arch.layout.TrapIndexDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.StoreList;

/// Writes the session's table of trapping bytes (`struct mdl_trap`), which the shim's signal handler reads. It is
/// in the session because threads of forked children execute the same bytes.
///
/// Assumes    A1 this class alone writes the table; the handler reads rows in any process that shares the session
/// Guarantees G1 a handler that runs after [#publish] returned, on a thread that met the byte, sees the row's action
///            G2 a handler sees one of the row's actions untorn: it is one word
///            G3 rows and replaced indices are never freed, so a late handler reads valid memory
/// Progress   P1 handlers never wait; writers of different rows do not wait for each other, except in [#row]
///
/// | step | writer | handler |
/// | --- | --- | --- |
/// | 1 | row := address; slot := row (release); a full index is copied first, and published (release) | |
/// | 2 | action := redirect (release) | |
/// | 3 | trapping byte stored | fetches it; finds index, slot and row (acquire), then the action |
/// | 4 | the byte has gone: action := none (release) | finds none: tries the instruction again |
public final class TrapTable {
    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int FIRST_SLOTS = 256;
    private static final int BLOCK_ROWS = 128;

    private final NativeApi api;
    private final long header;
    private int rows;
    private long nextRow;
    private long endOfRows;

    /// Installs the SIGTRAP handler in this process. Create one table per session: another would not see its rows.
    ///
    /// @throws IllegalStateException if the handler cannot be installed
    public TrapTable(NativeApi api) {
        this.api = api;
        header = api.session();
        api.catchTraps();
    }

    /// The row of `address`, created on demand. Rows last as long as the session.
    ///
    /// @throws IllegalStateException when the session's memory is used up
    public synchronized long row(long address) {
        long index = Memory.getLong(header + HeaderDescriptor.TRAPS);
        long known = index == 0 ? 0 : Memory.getLong(slot(index, address));
        if (known != 0) {
            return known;
        }
        if (index == 0 || (rows + 1) * 2L > slots(index)) {
            index = grow(index, index == 0 ? FIRST_SLOTS : slots(index) * 2);
        }
        if (nextRow == endOfRows) {
            nextRow = allocate(BLOCK_ROWS * TrapDescriptor.SIZE);
            endOfRows = nextRow + BLOCK_ROWS * TrapDescriptor.SIZE;
        }
        long row = nextRow;
        nextRow += TrapDescriptor.SIZE;
        Memory.putLong(row + TrapDescriptor.ADDRESS, address);
        Memory.putLongRelease(slot(index, address), row);
        rows++;
        return row;
    }

    /// Reserves room for rows, so that the index is not copied repeatedly.
    ///
    /// @throws IllegalStateException when the session's memory is used up
    public synchronized void reserve(int more) {
        long index = Memory.getLong(header + HeaderDescriptor.TRAPS);
        long slots = index == 0 ? FIRST_SLOTS : slots(index);
        long wanted = slots;
        while ((rows + more) * 2L > wanted) {
            wanted *= 2;
        }
        if (wanted > slots) {
            grow(index, wanted);
        }
    }

    /// Once this method has returned, threads at the row's byte are redirected by `action`.
    ///
    /// @param action [Redirect#action]
    public void publish(long row, long action) {
        Memory.putLongRelease(row + TrapDescriptor.ACTION, action);
    }

    /// Makes late threads retry the instruction. The trapping byte must have been removed before.
    public void withdraw(long row) {
        Memory.putLongRelease(row + TrapDescriptor.ACTION, TrapDescriptor.KIND_NONE);
    }

    /// Adds the stores of [#publish] to `rows`, for [#publishAll].
    public static void add(StoreList rows, long row, long action) {
        rows.add(row + TrapDescriptor.ACTION, StoreList.ALL, action);
    }

    /// [#publish] of all rows that have been added.
    public void publishAll(StoreList rows) {
        api.replaceAll(rows);
    }

    /// [#withdraw] of all rows that have been added.
    public void withdrawAll(StoreList rows) {
        rows.values(TrapDescriptor.KIND_NONE);
        api.replaceAll(rows);
    }

    /// How often threads have trapped at the row's byte.
    public long hits(long row) {
        return Memory.getLongAcquire(row + TrapDescriptor.HITS);
    }

    /// Replaces `index`, initially 0, by a larger index with the same rows.
    private long grow(long index, long slots) {
        long larger = allocate(TrapIndexDescriptor.SIZE + slots * Long.BYTES);
        Memory.putLong(larger + TrapIndexDescriptor.MASK, slots - 1);
        for (long i = 0; index != 0 && i < slots(index); i++) {
            long row = Memory.getLong(index + TrapIndexDescriptor.ROWS + i * Long.BYTES);
            if (row != 0) {
                Memory.putLong(slot(larger, Memory.getLong(row + TrapDescriptor.ADDRESS)), row);
            }
        }
        Memory.putLongRelease(header + HeaderDescriptor.TRAPS, larger);
        return larger;
    }

    private static long slots(long index) {
        return Memory.getLong(index + TrapIndexDescriptor.MASK) + 1;
    }

    /// Address of the slot of the row of `address`, or of the free slot for it.
    private static long slot(long index, long address) {
        long mask = Memory.getLong(index + TrapIndexDescriptor.MASK);
        for (long i = address * HASH >>> 32; ; i++) {
            long slot = index + TrapIndexDescriptor.ROWS + (i & mask) * Long.BYTES;
            long row = Memory.getLong(slot);
            if (row == 0 || Memory.getLong(row + TrapDescriptor.ADDRESS) == address) {
                return slot;
            }
        }
    }

    private long allocate(long bytes) {
        long address = api.allocate(bytes);
        if (address == 0) {
            throw new IllegalStateException("the session's memory is used up: no trap table");
        }
        return address;
    }
}
