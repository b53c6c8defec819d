package org.mdlagent.profiler.report.profile;

import java.util.Locale;

/// What a session did not see, or did not keep.
///
/// @param count of what the reason names, at least 1
public record Loss(Reason reason, long count) {
    public enum Reason {
        /// Nothing is known of what came after.
        AGENT,
        /// They found no room for a block of their own: nothing is known of their calls.
        THREADS,
        /// Programs and libraries without probes, which they could have had.
        IMAGES,
        /// Functions of these, and others without a probe that they could have had.
        FUNCTIONS,
        /// Their calls are known, but not whose they are.
        PROCESSES,
        /// Forked before the probes were in place, they have got none: nothing is known of their calls.
        UNPROBED,
        /// They or their parents gave up rights that others of their family keep, and have no file to record into.
        /// Their later calls are not counted.
        APART,
        /// They were counted, but not timed, for want of room.
        CALLS,
        /// Functions whose figures are withheld, because what the session has of them is damaged.
        DAMAGE;

        /// The name in reports for programs.
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
