package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.OptionalDouble;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.MetricPoints;
import org.mdlagent.arch.layout.PointDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;
import org.mdlagent.profiler.report.profile.MetricValue;

/// Sums each metric over all threads.
final class MetricReader {
    private static final int METRICS_MAX = 1 << 16;

    private final SessionBytes bytes;
    private final List<ThreadBytes> threads = new ArrayList<>();
    private final List<Long> values = new ArrayList<>();
    private final OptionalDouble tscHz;

    /// The enabled metrics, in the order of their requests.
    ///
    /// @param threads all threads
    static List<MetricValue> all(SessionBytes bytes, List<ThreadBytes> threads, OptionalDouble tscHz)
            throws IOException {
        List<Long> records = bytes.list(
                HeaderDescriptor.METRICS, MetricDescriptor.NEXT, MetricDescriptor.SIZE, METRICS_MAX, "metrics");
        List<MetricValue> metrics = new ArrayList<>();
        if (!records.isEmpty()) {
            MetricReader values = new MetricReader(bytes, threads, tscHz);
            for (long at : records.reversed()) {
                if (isOn(bytes, at)) {
                    metrics.add(values.metric(at));
                }
            }
        }
        return metrics;
    }

    private static boolean isOn(SessionBytes bytes, long at) throws IOException {
        return switch (bytes.getInt(at + MetricDescriptor.STATE)) {
            case MetricDescriptor.STATE_ON -> true;
            case MetricDescriptor.STATE_RESERVED ->
                !bytes.string(bytes.getInt(at + MetricDescriptor.FOCUS)).isEmpty();
            default -> false;
        };
    }

    private MetricValue metric(long at) throws IOException {
        String focus = bytes.string(bytes.getInt(at + MetricDescriptor.FOCUS));
        return new MetricValue(
                bytes.string(bytes.getInt(at + MetricDescriptor.ID)),
                bytes.string(bytes.getInt(at + MetricDescriptor.NAME)),
                bytes.string(bytes.getInt(at + MetricDescriptor.UNITS)),
                bytes.constant(MetricValue.UnitsType.values(), at + MetricDescriptor.UNITS_TYPE, "type of units"),
                focus.isEmpty() ? List.of() : List.of(focus.split("\n")),
                amount(at),
                seconds(at),
                errors(at),
                history(at));
    }

    private MetricReader(SessionBytes bytes, List<ThreadBytes> threads, OptionalDouble tscHz) throws IOException {
        this.bytes = bytes;
        this.tscHz = tscHz;
        long size = (long) ValueDescriptor.VALUES * Long.BYTES;
        for (ThreadBytes thread : threads) {
            long at = thread.values();
            if (at != 0) {
                bytes.claim(size);
                this.threads.add(thread);
                values.add(at);
            }
        }
    }

    /// The amount of the metric whose record is at an offset, in seconds if it is a time. Empty if it has no
    /// value, or an unknown one.
    private OptionalDouble amount(long metric) throws IOException {
        OptionalDouble unit = unit(metric);
        return unit.isPresent() ? OptionalDouble.of(measured(metric) * unit.getAsDouble()) : unit;
    }

    /// The factor that converts an amount to seconds; 1 if it is not a time. Empty if there is no value, or
    /// an unknown one.
    private OptionalDouble unit(long metric) throws IOException {
        return switch (bytes.getInt(metric + MetricDescriptor.KIND)) {
            case ValueDescriptor.KIND_COUNTER, ValueDescriptor.KIND_FLAG, ValueDescriptor.KIND_EVENTS ->
                OptionalDouble.of(1);
            case ValueDescriptor.KIND_WALL_TIMER ->
                tscHz.isPresent() ? OptionalDouble.of(1 / tscHz.getAsDouble()) : tscHz;
            case ValueDescriptor.KIND_PROCESS_TIMER -> OptionalDouble.of(1e-9);
            case ValueDescriptor.KIND_NONE -> OptionalDouble.empty();
            default -> throw bytes.damaged("a metric has a value of unknown kind");
        };
    }

    /// Earlier amounts of a metric since it was enabled. Points of the metric that used the record before are
    /// left out.
    private List<MetricValue.Point> history(long metric) throws IOException {
        OptionalDouble unit = unit(metric);
        long history = bytes.getLong(metric + MetricDescriptor.HISTORY);
        int half = MetricPoints.half(history);
        int count = MetricPoints.count(history);
        if ((half & ~1) != 0 || count < 0 || count > MetricDescriptor.HISTORY_POINTS) {
            throw bytes.damaged("a metric's history has " + count + " points");
        }
        List<MetricValue.Point> points = new ArrayList<>();
        long before = bytes.getLong(metric + MetricDescriptor.SINCE_TSC);
        long since = before;
        for (int i = 0; i < count && unit.isPresent() && tscHz.isPresent(); i++) {
            long at = metric + MetricPoints.point(half, i);
            long tsc = bytes.getLong(at + PointDescriptor.TSC);
            double amount = bytes.getDouble(at + PointDescriptor.AMOUNT);
            if (tsc > before && Double.isFinite(amount)) {
                points.add(new MetricValue.Point((tsc - since) / tscHz.getAsDouble(), amount * unit.getAsDouble()));
                before = tsc;
            }
        }
        return points;
    }

    /// How long a metric has been enabled.
    private OptionalDouble seconds(long metric) throws IOException {
        long ticks = bytes.getLong(HeaderDescriptor.NOW_TSC) - bytes.getLong(metric + MetricDescriptor.SINCE_TSC);
        return tscHz.isPresent() ? OptionalDouble.of(Math.max(0, ticks) / tscHz.getAsDouble()) : OptionalDouble.empty();
    }

    /// Errors counted by a metric's code.
    private long errors(long metric) throws IOException {
        int counter = bytes.getInt(metric + MetricDescriptor.ERRORS);
        long sum = 0;
        for (int i = 0; i < values.size() && counter != 0; i++) {
            sum += isWanted(metric, threads.get(i)) ? word(values.get(i), counter) : 0;
        }
        return sum;
    }

    private double measured(long metric) throws IOException {
        return bytes.getInt(metric + MetricDescriptor.KIND) == ValueDescriptor.KIND_EVENTS
                ? bytes.getLong(metric + MetricDescriptor.EVENTS)
                : combined(metric);
    }

    private double combined(long metric) throws IOException {
        LongSummaryStatistics found = new LongSummaryStatistics();
        for (int i = 0; i < values.size(); i++) {
            if (isWanted(metric, threads.get(i))) {
                found.accept(measured(metric, threads.get(i), values.get(i)));
            }
        }
        if (found.getCount() == 0) {
            return 0;
        }
        return switch (bytes.getInt(metric + MetricDescriptor.COMBINE)) {
            case MetricDescriptor.COMBINE_SUM -> found.getSum();
            case MetricDescriptor.COMBINE_MIN -> found.getMin();
            case MetricDescriptor.COMBINE_MAX -> found.getMax();
            case MetricDescriptor.COMBINE_AVERAGE -> found.getAverage();
            default -> throw bytes.damaged("a metric combines threads in an unknown way");
        };
    }

    private boolean isWanted(long metric, ThreadBytes thread) throws IOException {
        return accepts(metric + MetricDescriptor.PID, thread.pid())
                && accepts(metric + MetricDescriptor.TID, thread.tid());
    }

    private boolean accepts(long wanted, int actual) throws IOException {
        int number = bytes.getInt(wanted);
        return number == 0 || number == actual;
    }

    private long measured(long metric, ThreadBytes thread, long words) throws IOException {
        int index = bytes.getInt(metric + MetricDescriptor.VALUE);
        return switch (bytes.getInt(metric + MetricDescriptor.KIND)) {
            case ValueDescriptor.KIND_WALL_TIMER -> timed(words, index, bytes.getLong(HeaderDescriptor.NOW_TSC));
            case ValueDescriptor.KIND_PROCESS_TIMER -> timed(words, index, thread.cpuNanos());
            default -> word(words, index);
        };
    }

    /// The time of a timer, including its running interval, up to the agent's last renewal of its clock.
    private long timed(long words, int timer, long now) throws IOException {
        long running = word(words, timer + ValueDescriptor.TIMER_NESTING) == 0
                ? 0
                : now - word(words, timer + ValueDescriptor.TIMER_START);
        return word(words, timer + ValueDescriptor.TIMER_TOTAL) + Math.max(0, running);
    }

    private long word(long words, int index) throws IOException {
        if (index <= ValueDescriptor.DEPTH || index >= ValueDescriptor.VALUES) {
            throw bytes.damaged("a metric has the value " + index);
        }
        return bytes.getLong(words + (long) index * Long.BYTES);
    }
}
