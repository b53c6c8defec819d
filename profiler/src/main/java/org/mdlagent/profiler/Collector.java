package org.mdlagent.profiler;

import java.util.List;
import org.mdlagent.fastinst.install.Tier;

/// What collects figures of the program's functions by their probes: how long they take, how often they are
/// called. The agent finds functions, and calls all this on its own thread, the first time when nothing is armed
/// yet.
///
/// Functions are told by their numbers in the session.
public interface Collector {
    /// Begins to collect functions that have come with an image, or by a first call; some may have been here
    /// before, because their image was closed meanwhile.
    ///
    /// @param whole whether none of their calls has been missed
    void open(List<Integer> functions, boolean whole);

    /// Collects functions again that were closed; the others stay as they are.
    void reopen(List<Integer> functions);

    /// Lets other calls of functions be timed from now on.
    ///
    /// @throws IllegalArgumentException when the session has one way to record
    void setTier(List<Integer> functions, Tier tier);

    /// Goes on with what is to be done now and then.
    ///
    /// @return nanoseconds until it wants to go on
    double tick();

    /// Whether it wants to go on at once, whatever it said at last.
    default boolean isUrgent() {
        return false;
    }

    /// Writes down in the session what has been collected so far.
    ///
    /// @return false when it cannot be told at this moment, which is over soon
    boolean settle();

    /// Collects functions no more, until they are reopened; their figures stay.
    void close(List<Integer> functions);
}
