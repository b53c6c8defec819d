package org.mdlagent.stress.jcstress;

import java.util.concurrent.atomic.AtomicInteger;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.TrapDescriptor;
import org.mdlagent.arch.layout.TrapIndexDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.SmallSession;

/// A separate trap table with a full index, so that the next row makes it grow; and the shim's handler (`trap.c`)
/// in Java, for a thread that may meet a trapping byte.
final class TrapRows {
    static final long JUMP = new Redirect.Jump(0x7000_0000_1234L).action();
    static final long CALL = new Redirect.Call(0x7000_0000_5678L, 5).action();

    private static final long JUMP_ACTION = 0x0100_7000_0000_1234L;
    private static final long CALL_ACTION = 0x0205_7000_0000_5678L;
    private static final long FIRST_ADDRESS = 0x10000;
    private static final long NEW_ADDRESS = 0x20000;
    private static final int ROWS = 128;
    private static final SmallSession[] SESSIONS = SmallSession.all(16 * 1024);
    private static final AtomicInteger NEXT_SESSION = new AtomicInteger();

    private final long header;
    private final TrapTable table;
    private final long row;

    /// Stands for the byte in the code.
    private final long trappingByte;

    TrapRows() {
        SmallSession session = SESSIONS[NEXT_SESSION.getAndIncrement() & SESSIONS.length - 1];
        session.clear();
        header = session.api().session();
        trappingByte = session.api().allocate(Long.BYTES);
        table = new TrapTable(session.api());
        row = table.row(FIRST_ADDRESS);
        for (int i = 1; i < ROWS; i++) {
            long unused = table.row(FIRST_ADDRESS + 16 * i);
        }
    }

    TrapTable table() {
        return table;
    }

    /// A row that is in the index already.
    long row() {
        return row;
    }

    /// A row that makes the index grow.
    long newRow() {
        return table.row(NEW_ADDRESS);
    }

    /// 0: there is none.
    void trappingByte(int generation) {
        Memory.putIntRelease(trappingByte, generation);
    }

    int trappingByte() {
        return Memory.getIntAcquire(trappingByte);
    }

    /// Where a thread continues after a trapping byte before the first row's instruction.
    String meet() {
        return goOn(FIRST_ADDRESS);
    }

    /// Where a thread continues after one before the new row's.
    String meetNew() {
        return goOn(NEW_ADDRESS);
    }

    private String goOn(long address) {
        long index = Memory.getLongAcquire(header + HeaderDescriptor.TRAPS);
        long mask = Memory.getLong(index + TrapIndexDescriptor.MASK);
        for (long slot = address * 0x9E3779B97F4A7C15L >>> 32; ; slot++) {
            long found = Memory.getLongAcquire(index + TrapIndexDescriptor.ROWS + (slot & mask) * Long.BYTES);
            if (found == 0) {
                return "foreign";
            }
            if (Memory.getLong(found + TrapDescriptor.ADDRESS) == address) {
                return name(Memory.getLongAcquire(found + TrapDescriptor.ACTION));
            }
        }
    }

    private static String name(long action) {
        return action == 0 ? "again" : action == JUMP_ACTION ? "jump" : action == CALL_ACTION ? "call" : "torn";
    }
}
