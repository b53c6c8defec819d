package org.mdlagent.stress.jcstress;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// A probed function with one entry and one exit, both on, with an expired lease. The protocol is the shim's
/// (`lease.c`): Java calls the agent's half, machine code the other.
final class ProbeLease {
    private static final NativeApi API = PatchedCode.API;
    private static final MethodHandle EXPIRE_ENTRY = Linker.nativeLinker()
            .downcallHandle(
                    MemorySegment.ofAddress(API.recordingEntryPoints(false).expireEntry()),
                    java.lang.foreign.FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG),
                    Linker.Option.critical(false));

    /// More than there are states alive at any time.
    private static final int FUNCTIONS = 4096;

    private static final long LONGEST_TICKS = 1L << 50;
    private static final int STORE_BYTES = 4;
    private static final int ON = 0xE8;
    private static final int OFF = 0x90;
    private static final AtomicInteger NEXT_FUNCTION = new AtomicInteger();
    private static final long ALL_FUNCTIONS = API.allocate(FUNCTIONS * FunctionDescriptor.SIZE);
    private static final long ALL_SITES = API.allocate(2 * FUNCTIONS * SiteDescriptor.SIZE);
    private static final long LISTS = API.allocate(2L * FUNCTIONS * Integer.BYTES);
    private static final long STORES = API.allocate(2L * FUNCTIONS * STORE_BYTES);
    private static final long INDICES = API.allocate((long) FUNCTIONS * Integer.BYTES);
    private static final long LONGEST = API.allocate(Long.BYTES);

    static {
        Memory.putLong(API.session() + HeaderDescriptor.FUNCTIONS, ALL_FUNCTIONS);
        Memory.putLong(API.session() + HeaderDescriptor.SITES, ALL_SITES);
        Memory.putLong(LONGEST, LONGEST_TICKS);
        for (int i = 0; i < FUNCTIONS; i++) {
            Memory.putInt(INDICES + (long) i * Integer.BYTES, i);
        }
    }

    private final int index = NEXT_FUNCTION.getAndIncrement() & FUNCTIONS - 1;
    private final long function = ALL_FUNCTIONS + index * FunctionDescriptor.SIZE;
    private final long exitStore = STORES + 2L * index * STORE_BYTES;
    private final long entryStore = exitStore + STORE_BYTES;

    ProbeLease() {
        describe(2 * index, exitStore);
        describe(2 * index + 1, entryStore);
        Memory.putLong(function + FunctionDescriptor.SITE_LIST, LISTS + 2L * index * Integer.BYTES);
        Memory.putInt(function + FunctionDescriptor.EXIT_SITES, 1);
        Memory.putInt(function + FunctionDescriptor.ENTRY_SITES, 1);
        Memory.putLong(function + FunctionDescriptor.DEADLINE, 1);
        state(FunctionDescriptor.STATE_SAMPLING);
    }

    private void describe(int site, long store) {
        long record = ALL_SITES + site * SiteDescriptor.SIZE;
        Memory.putLong(record + SiteDescriptor.FUNCTION, function);
        Memory.putLong(record + SiteDescriptor.STORE, store);
        Memory.putLong(record + SiteDescriptor.ON, ON);
        Memory.putLong(record + SiteDescriptor.OFF, OFF);
        Memory.putByte(record + SiteDescriptor.SIZE_AT, (byte) STORE_BYTES);
        Memory.putInt(LISTS + (long) site * Integer.BYTES, site);
        Memory.putInt(store, ON);
    }

    /// The agent opens the next lease.
    ///
    /// @return the number of sites that it switched on
    int arm() {
        return (int) API.arm(INDICES + (long) index * Integer.BYTES, LONGEST, 1);
    }

    /// The same without checking for threads that are ending the last lease.
    int armBlindly() {
        Memory.putLong(function + FunctionDescriptor.DEADLINE, Long.MAX_VALUE);
        state(FunctionDescriptor.STATE_SAMPLING);
        API.store(exitStore, ON, STORE_BYTES);
        API.store(entryStore, ON, STORE_BYTES);
        return 2;
    }

    /// A thread passes the entry after the deadline.
    void expire() {
        try {
            EXPIRE_ENTRY.invokeExact(ALL_SITES + (2 * index + 1) * SiteDescriptor.SIZE);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private void state(int state) {
        Memory.putIntRelease(function + FunctionDescriptor.STATE, state);
    }

    /// The state of the lease, and whether its entry is on.
    String outcome() {
        int state = Memory.getIntAcquire(function + FunctionDescriptor.STATE);
        String name = switch (state) {
            case FunctionDescriptor.STATE_SAMPLING -> "sampling";
            case FunctionDescriptor.STATE_EXPIRED -> "expired";
            default -> "state " + state;
        };
        return name + (Memory.getInt(entryStore) == ON ? " on" : " off");
    }
}
