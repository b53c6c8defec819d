package org.mdlagent.profiler;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.install.Tier;

/// Collects figures of the program's functions through their probes: durations and call counts. The agent
/// finds functions and calls all methods on its own thread; the first call comes before anything is armed.
///
/// Functions are identified by their session numbers.
public interface Collector {
    /// Begins to collect functions that came with an image or with a first call. Some may have been collected
    /// before, because their image was closed and opened again.
    ///
    /// @param whole whether none of their calls has been missed
    void open(List<Integer> functions, boolean whole);

    /// Resumes collecting closed functions; open ones are unaffected.
    void reopen(List<Integer> functions);

    /// Changes which calls of the functions are timed from now on.
    ///
    /// @throws IllegalArgumentException when the session has only one way to record
    void setTier(List<Integer> functions, Tier tier);

    /// Performs periodic work.
    ///
    /// @return nanoseconds until the next call is due
    double tick();

    /// Nanoseconds until [#tick] is due, whatever it returned last; infinite if nothing has happened since. Asked again
    /// whenever a thread has stopped a function.
    default double urgentNanos() {
        return Double.POSITIVE_INFINITY;
    }

    /// The image without probes in which much of the CPU time was spent, by its path.
    default @Nullable String hotImage() {
        return null;
    }

    /// Writes what has been collected so far to the session.
    ///
    /// @return false when that is temporarily impossible
    boolean settle();

    /// Looks at where threads wait, between ticks, when that is due. Some collectors do not.
    ///
    /// @return nanoseconds until it is due again
    default double lookAtWaits() {
        return Double.POSITIVE_INFINITY;
    }

    /// Does nothing until the next [#tick], nor does the kernel for it.
    default void rest() {}

    /// Stops collecting functions until they are reopened; their figures stay.
    void close(List<Integer> functions);
}
