package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.OptionalDouble;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.PointDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.report.profile.MetricValue;

/// Adds up what metrics have in each thread.
final class MetricReader {
    private final SessionBytes bytes;
    private final List<Long> threads = new ArrayList<>();
    private final List<Long> values = new ArrayList<>();
    private final OptionalDouble tscHz;

    /// @param threads offsets of all threads
    MetricReader(SessionBytes bytes, List<Long> threads, OptionalDouble tscHz) throws IOException {
        this.bytes = bytes;
        this.tscHz = tscHz;
        long size = (long) ValueDescriptor.COUNT * Long.BYTES;
        for (long thread : threads) {
            long address = bytes.getLong(thread + ThreadDescriptor.VALUES);
            if (address != 0) {
                bytes.claim(size);
                this.threads.add(thread);
                values.add(bytes.offset(address, size, "a thread's values"));
            }
        }
    }

    /// What a metric whose record is at an offset has come to, in seconds where it is a time. Empty where it has no
    /// value, or none that can be known.
    OptionalDouble amount(long metric) throws IOException {
        OptionalDouble unit = unit(metric);
        return unit.isPresent() ? OptionalDouble.of(measured(metric) * unit.getAsDouble()) : unit;
    }

    /// What makes seconds of a time, 1 where it is none. Empty where there is no value, or none that can be known.
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

    /// What the amount of a metric had been since it was enabled. Points from before belong to the metric that had the
    /// record, and are left out.
    List<MetricValue.Point> history(long metric) throws IOException {
        OptionalDouble unit = unit(metric);
        long history = bytes.getLong(metric + MetricDescriptor.HISTORY);
        int half = MetricDescriptor.half(history);
        int count = MetricDescriptor.count(history);
        if ((half & ~1) != 0 || count < 0 || count > MetricDescriptor.HISTORY_POINTS) {
            throw bytes.damaged("a metric's history has " + count + " points");
        }
        List<MetricValue.Point> points = new ArrayList<>();
        long before = bytes.getLong(metric + MetricDescriptor.SINCE_TSC);
        long since = before;
        for (int i = 0; i < count && unit.isPresent() && tscHz.isPresent(); i++) {
            long at = metric + MetricDescriptor.point(half, i);
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
    OptionalDouble seconds(long metric) throws IOException {
        long ticks = bytes.getLong(HeaderDescriptor.NOW_TSC) - bytes.getLong(metric + MetricDescriptor.SINCE_TSC);
        return tscHz.isPresent() ? OptionalDouble.of(Math.max(0, ticks) / tscHz.getAsDouble()) : OptionalDouble.empty();
    }

    /// Errors that a metric's code has counted.
    long errors(long metric) throws IOException {
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

    private boolean isWanted(long metric, long thread) throws IOException {
        return accepts(metric + MetricDescriptor.PID, thread + ThreadDescriptor.PID)
                && accepts(metric + MetricDescriptor.TID, thread + ThreadDescriptor.TID);
    }

    private boolean accepts(long wanted, long actual) throws IOException {
        int number = bytes.getInt(wanted);
        return number == 0 || number == bytes.getInt(actual);
    }

    private long measured(long metric, long thread, long words) throws IOException {
        int index = bytes.getInt(metric + MetricDescriptor.VALUE);
        return switch (bytes.getInt(metric + MetricDescriptor.KIND)) {
            case ValueDescriptor.KIND_WALL_TIMER -> timed(words, index, bytes.getLong(HeaderDescriptor.NOW_TSC));
            case ValueDescriptor.KIND_PROCESS_TIMER ->
                timed(words, index, bytes.getLong(thread + ThreadDescriptor.CPU_NANOS));
            default -> word(words, index);
        };
    }

    /// What a timer has measured, with what it is measuring, as far as the agent has renewed its clock.
    private long timed(long words, int timer, long now) throws IOException {
        long running = word(words, timer + ValueDescriptor.TIMER_NESTING) == 0
                ? 0
                : now - word(words, timer + ValueDescriptor.TIMER_START);
        return word(words, timer + ValueDescriptor.TIMER_TOTAL) + Math.max(0, running);
    }

    private long word(long words, int index) throws IOException {
        if (index <= ValueDescriptor.DEPTH || index >= ValueDescriptor.COUNT) {
            throw bytes.damaged("a metric has the value " + index);
        }
        return bytes.getLong(words + (long) index * Long.BYTES);
    }
}
