package org.mdlagent.profiler.report.profile;

import java.util.Locale;

/// What a session did not see or did not keep.
///
/// @param count of what the reason names, at least 1
public record Loss(Reason reason, long count) {
    public enum Reason {
        /// The agent stopped: nothing is known of what came after.
        AGENT,
        /// Threads without a block for lack of room: nothing is known of their calls.
        THREADS,
        /// Programs and libraries that could have had probes and have none.
        IMAGES,
        /// Functions that could have had probes and have none, those of `IMAGES` included.
        FUNCTIONS,
        /// Processes without a record: their calls are known, but not attributed to them.
        PROCESSES,
        /// Processes forked before the probes were in place: they have no probes, and nothing is known of
        /// their calls.
        UNPROBED,
        /// Processes that gave up privileges that others of the session keep, or whose parents did, and that
        /// have no file to record into. Their later calls are not counted.
        APART,
        /// Calls counted but not timed for lack of room.
        CALLS,
        /// Functions whose figures are withheld because the session's data of them is damaged.
        DAMAGE;

        /// The name in reports for scripts.
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
