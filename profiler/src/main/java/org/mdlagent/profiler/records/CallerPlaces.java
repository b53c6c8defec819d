package org.mdlagent.profiler.records;

import org.mdlagent.arch.layout.CallerDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.calls.ReturnSite;
import org.mdlagent.fastinst.calls.ReturnSites;

/// Finds the functions that the places of calls are in, in exact sessions (`callers.h`): once per place and thread.
/// Readers of the session find most of the others by the functions' addresses.
///
/// Used by one thread, the agent's.
public final class CallerPlaces {
    private final long session;
    private final ReturnSites returnSites;

    /// The newest place that has been looked at; 0 before the first. The list grows only at its head.
    private long seen;

    /// @param session address of the session
    public CallerPlaces(long session, ReturnSites returnSites) {
        this.session = session;
        this.returnSites = returnSites;
    }

    /// Looks at all new places.
    public void resolve() {
        long newest = Memory.getLongAcquire(session + HeaderDescriptor.NEW_CALLERS);
        for (long at = newest; at != seen; at = Memory.getLong(at + CallerDescriptor.NEXT_NEW)) {
            int caller = callerOf(at);
            Memory.putInt(
                    at + CallerDescriptor.CALLER, caller == ReturnSite.NONE ? CallerDescriptor.UNKNOWN : caller + 1);
        }
        seen = newest;
    }

    /// With hooks, the frame below is the caller's, if its code is at the place: else a jump has left it, or code
    /// without probes has made the call.
    private int callerOf(long place) {
        long from = Memory.getLong(place + CallerDescriptor.FROM);
        long below = Memory.getLong(place + CallerDescriptor.BELOW);
        if (below != 0) {
            int function = new FunctionRecord(below).index();
            if (returnSites.mayRunAt(from - 1, function)) {
                return function;
            }
        }
        return returnSites.at(from).callerOf(Memory.getInt(place + CallerDescriptor.FUNCTION));
    }
}
