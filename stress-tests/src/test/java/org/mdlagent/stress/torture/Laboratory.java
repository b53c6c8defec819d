package org.mdlagent.stress.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.TrapDescriptor;
import org.mdlagent.arch.layout.TrapIndexDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Shared by the cells of a process: the shim's mechanisms, and the session's trap table.
record Laboratory(
        NativeApi api,
        CodeMemory code,
        CodeArena arena,
        TrapTable traps,
        Targets targets,
        Executor.Library library,
        long ticksPerMilli) {
    private static final long ARENA_BYTES_MAX = 64 << 20;
    private static final long CLOCK_MILLIS = 20;
    private static final double NANOS_PER_MILLI = 1e6;

    static Laboratory open(Path harness) throws IOException {
        NativeApi api = NativeApi.ofHarness(harness);
        CodeMemory code = new CodeMemory(api);
        return new Laboratory(
                api,
                code,
                new CodeArena(code, ARENA_BYTES_MAX),
                new TrapTable(api),
                Targets.make(api, code),
                Executor.Library.of(harness),
                measureTicksPerMilli(api));
    }

    private static long measureTicksPerMilli(NativeApi api) {
        LockSupport.parkNanos((long) (CLOCK_MILLIS * NANOS_PER_MILLI));
        api.renewClocks();
        long header = api.session();
        long ticks =
                Memory.getLong(header + HeaderDescriptor.NOW_TSC) - Memory.getLong(header + HeaderDescriptor.START_TSC);
        long nanos = Memory.getLong(header + HeaderDescriptor.NOW_MONO_NANOS)
                - Memory.getLong(header + HeaderDescriptor.START_MONO_NANOS);
        return Math.round(ticks * NANOS_PER_MILLI / nanos);
    }

    /// Zeroed memory that forked children share.
    long allocate(long bytes) {
        long address = api.allocate(bytes);
        if (address == 0) {
            throw new IllegalStateException("the session's memory is used up");
        }
        return address;
    }

    /// How often threads have trapped at any byte.
    long trapHits() {
        long index = Memory.getLongAcquire(api.session() + HeaderDescriptor.TRAPS);
        if (index == 0) {
            return 0;
        }
        long hits = 0;
        long slots = Memory.getLong(index + TrapIndexDescriptor.MASK) + 1;
        for (long slot = 0; slot < slots; slot++) {
            long row = Memory.getLongAcquire(index + TrapIndexDescriptor.ROWS + slot * Long.BYTES);
            hits += row == 0 ? 0 : Memory.getLong(row + TrapDescriptor.HITS);
        }
        return hits;
    }
}
