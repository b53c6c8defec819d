package org.mdlagent.profiler.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Scheduler statistics of a thread so far (`/proc/TID/schedstat`, proc(5)).
///
/// @param nanos    CPU time
/// @param switches how often a processor switched to it
record ScheduledTime(long nanos, long switches) {
    /// @return null when the thread has ended or the kernel has no such statistics
    static @Nullable ScheduledTime of(int tid) {
        try {
            return parse(Files.readString(Path.of("/proc", Integer.toString(tid), "schedstat")));
        } catch (IOException e) {
            return null;
        }
    }

    /// @param line three numbers: CPU time, run-queue time, and time slices run
    static @Nullable ScheduledTime parse(String line) {
        String[] words = line.strip().split(" ", -1);
        try {
            return words.length == 3 ? new ScheduledTime(Long.parseLong(words[0]), Long.parseLong(words[2])) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /// The increase since `before`; everything if that is null or belongs to an earlier thread with the same
    /// id.
    ScheduledTime since(@Nullable ScheduledTime before) {
        if (before == null || before.nanos > nanos || before.switches > switches) {
            return this;
        }
        return new ScheduledTime(nanos - before.nanos, switches - before.switches);
    }
}
