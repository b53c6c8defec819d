package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.runtime.mdl.request.Procedure;

/// Finds functions that threads are currently inside of, by return addresses on their stacks.
///
/// The kernel shows the stack pointer of a sleeping thread (`/proc/PID/task/TID/syscall` in proc(5)). A thread
/// that is running at several looks is skipped. All words above the stack pointer are scanned, as by a
/// conservative garbage collector, so stale words count too. No thread is stopped and nothing is written.
final class OpenCalls {
    private static final int LOOKS = 20;
    private static final long PAUSE_NANOS = 1_000_000;
    private static final int THREADS_MAX = 1000;

    /// Bytes scanned at the outer end of a stack, where long calls are.
    private static final int STACK_BYTES_MAX = 1 << 20;

    private final LongFunction<@Nullable Procedure> functions;
    private final Map<Procedure, Integer> threads = new HashMap<>();

    /// @param functions the function at a code address, or null
    OpenCalls(LongFunction<@Nullable Procedure> functions) {
        this.functions = functions;
    }

    /// Scans the threads of processes.
    ///
    /// @return the number of threads in each function
    Map<Procedure, Integer> find(List<LiveThreads> processes) {
        for (LiveThreads process : processes) {
            try (FileChannel memory = FileChannel.open(directory(process).resolve("mem"), StandardOpenOption.READ)) {
                find(process, memory);
            } catch (IOException e) {
                // It has ended, or may not be read.
            }
        }
        return threads;
    }

    private void find(LiveThreads process, FileChannel memory) throws IOException {
        Set<Integer> running =
                new HashSet<>(process.threads().stream().limit(THREADS_MAX).toList());
        for (int look = 0; look < LOOKS && !running.isEmpty(); look++) {
            if (look > 0) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            MemoryMap map = MemoryMap.read(process.pid());
            running.removeIf(thread -> {
                long pointer = stackPointer(process, thread);
                MemoryMap.Region stack = pointer == 0 ? null : map.at(pointer);
                if (stack != null) {
                    add(memory, pointer, stack.end());
                }
                return pointer != 0;
            });
        }
    }

    private static Path directory(LiveThreads process) {
        return Path.of("/proc", Integer.toString(process.pid()));
    }

    /// 0 for a running thread, -1 for one that has ended or may not be read.
    private static long stackPointer(LiveThreads process, int thread) {
        try {
            String[] fields = Files.readString(directory(process).resolve("task/" + thread + "/syscall"))
                    .strip()
                    .split(" ", -1);
            return fields.length < 3 ? 0 : Long.decode(fields[fields.length - 2]);
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
    }

    private void add(FileChannel memory, long pointer, long end) {
        long from = Math.max(pointer, end - STACK_BYTES_MAX);
        ByteBuffer stack = ByteBuffer.allocate((int) (end - from)).order(ByteOrder.nativeOrder());
        try {
            while (stack.hasRemaining() && memory.read(stack, from + stack.position()) > 0) {
                // until the end
            }
        } catch (IOException e) {
            // Partial data: the thread has ended meanwhile.
        }
        Set<Procedure> found = new HashSet<>();
        for (stack.flip(); stack.remaining() >= Long.BYTES; ) {
            Procedure function = functions.apply(stack.getLong());
            if (function != null) {
                found.add(function);
            }
        }
        found.forEach(function -> threads.merge(function, 1, Integer::sum));
    }
}
