package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.CallerDescriptor;
import org.mdlagent.arch.layout.CallersDescriptor;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.statistics.EdgeSums;

/// Reads the call graph's edges.
final class EdgeReader {
    /// Places in a list, including those that interrupted threads have added beyond its limit.
    private static final int PLACES_MAX = 16 * CallersDescriptor.CALLER_LIST_MAX;

    private final SessionBytes bytes;
    private final EdgeSums sums;
    private final int functions;

    /// @param sums where edges are added
    /// @param functions number of functions
    EdgeReader(SessionBytes bytes, EdgeSums sums, int functions) {
        this.bytes = bytes;
        this.sums = sums;
        this.functions = functions;
    }

    /// Reads the edges to a function.
    ///
    /// @param newest address of the newest edge, 0 for none
    void read(int function, long newest) throws IOException {
        long next = newest;
        List<Edge> edges = new ArrayList<>();
        while (next != 0) {
            if (edges.size() == EdgeDescriptor.CALLERS) {
                throw bytes.damaged("a list of callers has no end");
            }
            long edge = bytes.offset(next, EdgeDescriptor.SIZE, "a caller");
            bytes.claim(EdgeDescriptor.SIZE);
            edges.add(new Edge(
                    caller(bytes.getInt(edge + EdgeDescriptor.CALLER)),
                    bytes.getCounter(edge + EdgeDescriptor.CALLS),
                    bytes.getCounter(edge + EdgeDescriptor.TOTAL),
                    bytes.getCounter(edge + EdgeDescriptor.SAMPLES)));
            next = bytes.getLong(edge + EdgeDescriptor.NEXT);
        }
        add(function, edges);
    }

    /// Reads the calls of a function in a thread, by the places they came from.
    ///
    /// @param table address of the table, 0 for none
    /// @param callers for places that the agent has not looked at
    void readPlaces(int function, long table, Callers callers) throws IOException {
        if (table == 0) {
            return;
        }
        long at = bytes.offset(table, CallersDescriptor.SIZE, "a table of callers");
        bytes.claim(CallersDescriptor.SIZE);
        List<Edge> edges = new ArrayList<>();
        for (int list = 0; list <= CallersDescriptor.CALLER_LISTS; list++) {
            long next = bytes.getLong(at + CallersDescriptor.LISTS + (long) list * Long.BYTES);
            for (int length = 0; next != 0; length++) {
                if (length == PLACES_MAX) {
                    throw bytes.damaged("a list of callers has no end");
                }
                long place = bytes.offset(next, CallerDescriptor.SIZE, "a caller");
                bytes.claim(CallerDescriptor.SIZE);
                long calls = bytes.getCounter(place + CallerDescriptor.CALLS);
                edges.add(new Edge(
                        callerAt(place, callers), calls, bytes.getCounter(place + CallerDescriptor.TOTAL), calls));
                next = bytes.getLong(place + CallerDescriptor.NEXT);
            }
        }
        add(function, edges);
    }

    private void add(int function, List<Edge> edges) {
        for (Edge edge : edges) {
            sums.add(function, edge.caller, edge.calls, edge.ticks, edge.samples);
        }
    }

    private int callerAt(long place, Callers callers) throws IOException {
        int caller = bytes.getInt(place + CallerDescriptor.CALLER);
        return switch (caller) {
            case CallerDescriptor.UNRESOLVED -> callers.callerAt(place);
            case CallerDescriptor.UNKNOWN -> EdgeSums.NONE;
            default -> caller(caller - 1);
        };
    }

    private record Edge(int caller, long calls, long ticks, long samples) {}

    private int caller(int index) throws IOException {
        if (index == EdgeDescriptor.CALLER_NONE || index == EdgeDescriptor.CALLER_OTHER) {
            return EdgeSums.NONE;
        }
        if (index < 0 || index >= functions) {
            throw bytes.damaged("a caller has the number " + Integer.toUnsignedString(index));
        }
        return index;
    }
}
