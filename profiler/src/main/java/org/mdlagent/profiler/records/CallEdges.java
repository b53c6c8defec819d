package org.mdlagent.profiler.records;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.session.FunctionRecords;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.calls.ReturnSite;

/// The call graph: adds calls that report their callers to its edges in the session file.
///
/// Consecutive calls of one edge are summed first. Used by one thread.
final class CallEdges {
    /// Size of the cache of call sites.
    private static final int CALL_SITES_MAX = 1 << 18;

    private static final int EDGES_MAX = 1 << 18;

    /// Edges per allocation.
    static final int BLOCK = 64;

    private final NativeApi api;
    private final FunctionRecords functions;
    private final LongFunction<ReturnSite> returnSites;
    private final LongMap<Site> known = new LongMap<>(CALL_SITES_MAX);

    /// By callee and caller.
    private final LongMap<Edge> edges = new LongMap<>(EDGES_MAX);

    /// The rest of the block that new edges are taken from.
    private long blockNext;

    private long blockEnd;

    /// Address of the edge that pending sums belong to, 0 for none.
    private long added;

    private long calls;
    private long total;
    private long samples;

    /// @param address of a `struct mdl_edge`
    private record Edge(long address) {}

    /// What is known of a call site.
    private static final class Site {
        final ReturnSite call;

        /// The last callee from this site, and its edge.
        int callee = ReturnSite.NONE;

        @Nullable
        Edge edge;

        Site(ReturnSite call) {
            this.call = call;
        }
    }

    /// @param returnSites finds the call before a return address
    CallEdges(NativeApi api, LongFunction<ReturnSite> returnSites) {
        this.api = api;
        functions = new FunctionRecords(api.session());
        this.returnSites = returnSites;
    }

    /// Drops cached call sites: images have come or gone.
    void forgetCallSites() {
        known.clear();
    }

    /// Adds a timed call; it is in the session file after [#store].
    ///
    /// @param function index of the callee
    /// @param from     code address in the caller
    /// @param weight   calls that it stands for
    void add(int function, long from, long ticks, long weight) {
        Site site = site(from);
        if (site.edge == null || site.callee != function) {
            int caller = site.call.callerOf(function);
            site.edge = edge(function, caller == ReturnSite.NONE ? EdgeDescriptor.CALLER_NONE : caller);
            site.callee = function;
        }
        if (site.edge != null) {
            add(site.edge.address, ticks, weight);
        }
    }

    private void add(long edge, long ticks, long weight) {
        if (edge != added) {
            store();
            added = edge;
        }
        calls += weight;
        total += ticks * weight;
        samples++;
    }

    /// Stores pending sums.
    void store() {
        if (added != 0) {
            Memory.addLong(added + EdgeDescriptor.TOTAL, total);
            Memory.addLong(added + EdgeDescriptor.CALLS, calls);
            Memory.addLong(added + EdgeDescriptor.SAMPLES, samples);
            added = 0;
            calls = 0;
            total = 0;
            samples = 0;
        }
    }

    private Site site(long address) {
        Site site = known.get(address);
        if (site == null) {
            site = new Site(returnSites.apply(address));
            known.put(address, site);
        }
        return site;
    }

    private @Nullable Edge edge(int function, int caller) {
        long key = (long) function << Integer.SIZE | Integer.toUnsignedLong(caller);
        Edge edge = edges.get(key);
        if (edge == null) {
            edge = find(functions.address(function) + FunctionDescriptor.CALLERS, caller);
            if (edge != null) {
                edges.put(key, edge);
            }
        }
        return edge;
    }

    /// The edge of a caller, or the shared edge of other callers when the list is full; null when the session
    /// has no room, which the shim counts.
    ///
    /// @param list where the newest edge of the list stands
    private @Nullable Edge find(long list, int caller) {
        int length = 0;
        long edge = Memory.getLong(list);
        for (; edge != 0; edge = Memory.getLong(edge + EdgeDescriptor.NEXT)) {
            if (Memory.getInt(edge + EdgeDescriptor.CALLER) == caller) {
                return new Edge(edge);
            }
            length++;
        }
        if (length >= EdgeDescriptor.CALLERS - 1 && caller != EdgeDescriptor.CALLER_OTHER) {
            return find(list, EdgeDescriptor.CALLER_OTHER);
        }
        return create(list, caller);
    }

    private @Nullable Edge create(long list, int caller) {
        long edge = allocate();
        if (edge == 0) {
            return null;
        }
        Memory.putInt(edge + EdgeDescriptor.CALLER, caller);
        Memory.putLong(edge + EdgeDescriptor.NEXT, Memory.getLong(list));
        Memory.putLongRelease(list, edge);
        return new Edge(edge);
    }

    private long allocate() {
        if (blockNext == blockEnd) {
            blockNext = api.allocate(BLOCK * EdgeDescriptor.SIZE);
            blockEnd = blockNext == 0 ? 0 : blockNext + BLOCK * EdgeDescriptor.SIZE;
        }
        long at = blockNext;
        blockNext += at == 0 ? 0 : EdgeDescriptor.SIZE;
        return at;
    }
}
