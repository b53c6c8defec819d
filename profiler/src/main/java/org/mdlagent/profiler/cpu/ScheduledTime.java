package org.mdlagent.profiler.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// What the kernel's scheduler has given a thread so far (`/proc/TID/schedstat`, proc(5)).
///
/// @param nanos    CPU time
/// @param switches how often a processor turned to it
record ScheduledTime(long nanos, long switches) {
    /// @return null when the thread has ended, or this kernel does not tell
    static @Nullable ScheduledTime of(int tid) {
        try {
            return parse(Files.readString(Path.of("/proc", Integer.toString(tid), "schedstat")));
        } catch (IOException e) {
            return null;
        }
    }

    /// @param line of three numbers: CPU time, time in a queue, and how often it came to an end
    static @Nullable ScheduledTime parse(String line) {
        String[] words = line.strip().split(" ", -1);
        try {
            return words.length == 3 ? new ScheduledTime(Long.parseLong(words[0]), Long.parseLong(words[2])) : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /// What has come since it was asked before; all, if it was not, or if it is another thread with the same id.
    ScheduledTime since(@Nullable ScheduledTime before) {
        if (before == null || before.nanos > nanos || before.switches > switches) {
            return this;
        }
        return new ScheduledTime(nanos - before.nanos, switches - before.switches);
    }
}
