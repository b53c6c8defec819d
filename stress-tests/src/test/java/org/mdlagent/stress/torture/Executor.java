package org.mdlagent.stress.torture;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.mdlagent.arch.shim.Memory;

/// A native thread, or a forked child, that executes sites until it is stopped (`native-shim/test/torture.c`).
final class Executor {
    private static final FunctionDescriptor SHAPE = FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    private static final long START_NANOS_MAX = 300_000_000_000L;

    private final long address;
    private final boolean blocked;
    private final MethodHandle join;
    private long ended = 1;

    /// Functions of the harness library: they start and join executors, and map their text.
    record Library(
            MethodHandle start,
            MethodHandle join,
            MethodHandle mapFile,
            MethodHandle attach,
            MethodHandle detach,
            MethodHandle unmap) {
        static Library of(Path library) {
            SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
            return new Library(
                    handle(symbols, "mdl_torture_start"),
                    handle(symbols, "mdl_torture_join"),
                    handle(symbols, "mdl_torture_map_file"),
                    handle(symbols, "mdl_torture_attach"),
                    handle(symbols, "mdl_torture_detach"),
                    handle(symbols, "mdl_torture_unmap"));
        }

        // Not critical calls: they are slow, and must not block the collector.
        private static MethodHandle handle(SymbolLookup symbols, String name) {
            MemorySegment function = symbols.findOrThrow(name);
            return Linker.nativeLinker().downcallHandle(function, SHAPE);
        }
    }

    /// @param address of a filled-in `struct mdl_torture_executor`
    private Executor(long address, MethodHandle join) {
        this.address = address;
        this.join = join;
        blocked = (Memory.getInt(address + ExecutorDescriptor.FLAGS) & ExecutorDescriptor.FLAG_BLOCKED) != 0;
    }

    /// Waits until it executes.
    ///
    /// @throws IllegalStateException when it is not what was asked for: the test's own precondition
    static Executor start(Library library, long address) {
        Executor executor = new Executor(address, library.join);
        long result = call(library.start, address);
        if (result < 0) {
            throw new IllegalStateException("no executor: errno " + -result);
        }
        long deadline = System.nanoTime() + START_NANOS_MAX;
        while (Memory.getIntAcquire(address + ExecutorDescriptor.RUNNING) == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("an executor does not start");
            }
            Thread.yield();
        }
        int trouble = Memory.getInt(address + ExecutorDescriptor.TROUBLE);
        if (trouble != 0) {
            throw new IllegalStateException("an executor cannot be set up: errno " + trouble);
        }
        executor.checkMask();
        return executor;
    }

    /// Checks that an executor that blocks all signals has blocked all that are possible: all but SIGKILL and
    /// SIGSTOP, SIGTRAP and SIGILL, which the shim keeps unblocked, and the two that libc reserves; by the raw
    /// system call also those.
    private void checkMask() {
        long may = 1L << 8 | 1L << 18 | 1L << 3 | 1L << 4 | 1L << 31 | 1L << 32;
        long mask = Memory.getLong(address + ExecutorDescriptor.MASK);
        if (blocked && (mask | may) != -1) {
            throw new IllegalStateException("not all signals are blocked: " + Long.toHexString(mask));
        }
    }

    /// Stops it.
    ///
    /// @return whether it stopped in time and, if it is a child, ended well
    boolean join() {
        if (ended == 1) {
            ended = call(join, address);
        }
        return ended == 0;
    }

    /// What [#join] got: 0, `-errno`, or a child's wait status.
    long endedWith() {
        return ended;
    }

    long executions() {
        return Memory.getLongAcquire(address + ExecutorDescriptor.EXECUTIONS);
    }

    /// Executions that saw another version than the previous one at the same site.
    long changes() {
        return Memory.getLong(address + ExecutorDescriptor.CHANGES);
    }

    long wrong() {
        return Memory.getLongAcquire(address + ExecutorDescriptor.WRONG);
    }

    int wrongSite() {
        return (int) Memory.getLong(address + ExecutorDescriptor.WRONG_SITE);
    }

    long wrongValue() {
        return Memory.getLong(address + ExecutorDescriptor.WRONG_VALUE);
    }

    long stalled() {
        return Memory.getLong(address + ExecutorDescriptor.STALLED);
    }

    long longestNanos() {
        return Memory.getLong(address + ExecutorDescriptor.LONGEST_NANOS);
    }

    long explained() {
        return Memory.getLong(address + ExecutorDescriptor.EXPLAINED);
    }

    long signals() {
        return Memory.getLong(address + ExecutorDescriptor.SIGNALS);
    }

    /// How often `site` has returned the value at `place` of its possible values.
    long tally(int site, int place) {
        long tallies = Memory.getLong(address + ExecutorDescriptor.TALLIES);
        long tally = tallies + site * ExecutorDescriptor.TALLY_SIZE;
        return Memory.getLong(tally + ExecutorDescriptor.TALLY_EXECUTIONS + (long) place * Long.BYTES);
    }

    static long call(MethodHandle function, long address) {
        try {
            return (long) function.invokeExact(address);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
