package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.mdlagent.profiler.report.file.FunctionTable;
import org.mdlagent.profiler.report.statistics.EdgeSums;

/// Maps code addresses to functions, for functions that are contiguous.
final class CodeMap {
    /// Indices of functions, in ascending order of address.
    private final int[] functions;

    private final long[] starts;
    private final long[] ends;

    CodeMap(FunctionTable table) throws IOException {
        int count = table.count();
        starts = new long[count];
        ends = new long[count];
        long[] byIndex = new long[count];
        for (int i = 0; i < count; i++) {
            byIndex[i] = table.get(i).start();
        }
        functions = IntStream.range(0, count)
                .boxed()
                .sorted(Comparator.comparingLong(i -> byIndex[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        for (int i = 0; i < count; i++) {
            starts[i] = byIndex[functions[i]];
            // Functions of a closed library have no address.
            ends[i] = starts[i] == 0 ? 0 : table.get(functions[i]).end();
        }
    }

    /// Index of the function that contains the call before the return address `address`, or [EdgeSums#NONE].
    int callerAt(long address) {
        // A call of a function that never returns may be the last instruction of its caller.
        long call = address - 1;
        int low = 0;
        int high = starts.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (starts[middle] <= call) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low > 0 && call < ends[low - 1] ? functions[low - 1] : EdgeSums.NONE;
    }
}
