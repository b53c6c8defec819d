package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.statistics.EdgeSums;

/// Reads the call graph's edges.
final class EdgeReader {
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
        for (Edge edge : edges) {
            sums.add(function, edge.caller, edge.calls, edge.ticks, edge.samples);
        }
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
