package org.mdlagent.profiler.report.format;

import java.util.List;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;

/// The distribution of a function's durations as a row of bars: one for each part of a range that all
/// functions shown share.
public final class LatencyBars {
    /// The bars, lowest first.
    public static final String HEIGHTS = "▁▂▃▄▅▆▇█";

    static final int COUNT = 10;

    private LatencyBars() {}

    /// Powers of ten that enclose all durations shown, with equal steps of the logarithm between them.
    static double[] bounds(List<FunctionProfile> shown) {
        long min = Long.MAX_VALUE;
        long max = 1;
        for (FunctionProfile function : shown) {
            min = Math.min(min, function.latency().minNanos().orElse(Long.MAX_VALUE));
            max = Math.max(max, function.latency().maxNanos().orElse(1));
        }
        double low = Math.floor(Math.log10((double) Math.max(1, Math.min(min, max))));
        double high = Math.max(low + 1, Math.ceil(Math.log10((double) max)));
        double[] bounds = new double[COUNT + 1];
        for (int i = 0; i <= COUNT; i++) {
            bounds[i] = Math.pow(10, low + (high - low) * i / COUNT);
        }
        return bounds;
    }

    static String powerOfTen(double nanos) {
        Quantity duration = Quantity.duration(Math.round(nanos));
        return duration.whole() + duration.unit();
    }

    static String of(Latency latency, double[] bounds) {
        if (!latency.known()) {
            return "";
        }
        long[] spread = latency.spread(bounds);
        long most = 1;
        for (long count : spread) {
            most = Math.max(most, count);
        }
        StringBuilder bars = new StringBuilder();
        for (long count : spread) {
            int height = (int) Math.ceil((double) count / most * HEIGHTS.length());
            bars.append(count == 0 ? ' ' : HEIGHTS.charAt(Math.clamp(height - 1, 0, HEIGHTS.length() - 1)));
        }
        return bars.toString();
    }
}
