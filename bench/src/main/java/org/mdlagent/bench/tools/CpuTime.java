package org.mdlagent.bench.tools;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/// CPU time of other processes, in nanoseconds.
public final class CpuTime {
    /// `USER_HZ`, which is 100 whatever the kernel's own rate is.
    private static final long NANOS_PER_TICK = 10_000_000;

    /// Of a process's clock: the scheduler's account of all its threads (clock_getcpuclockid(3)).
    private static final int SCHEDULED = 2;

    private static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

    private CpuTime() {}

    /// CPU time of a process, its children, and ended children that were waited for; the latter in steps of 10 ms.
    public static long ofTree(ProcessHandle process) throws IOException {
        long nanos = 0;
        // Read a parent after its children: it includes children that end meanwhile.
        for (ProcessHandle each :
                Stream.concat(process.descendants(), Stream.of(process)).toList()) {
            nanos += of(each.pid()) + ofEndedChildren(each.pid());
        }
        return nanos;
    }

    /// 0 for an ended process.
    private static long of(long pid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(ValueLayout.JAVA_LONG, 2);
            int failed = (int) CLOCK_GETTIME.invokeExact(((int) ~pid << 3) | SCHEDULED, time);
            return failed != 0
                    ? 0
                    : 1_000_000_000 * time.getAtIndex(ValueLayout.JAVA_LONG, 0)
                            + time.getAtIndex(ValueLayout.JAVA_LONG, 1);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static long ofEndedChildren(long pid) throws IOException {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // Thirteen fields separate these times from the name, which may contain spaces.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return NANOS_PER_TICK
                    * Arrays.stream(fields, 13, 15).mapToLong(Long::parseLong).sum();
        } catch (IOException e) {
            if (ProcessHandle.of(pid).isPresent()) {
                throw e;
            }
            // It has ended before its file was opened or while it was read.
            return 0;
        }
    }
}
