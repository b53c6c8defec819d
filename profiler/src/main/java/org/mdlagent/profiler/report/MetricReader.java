package org.mdlagent.profiler.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.OptionalDouble;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;

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
        return switch (bytes.getInt(metric + MetricDescriptor.KIND)) {
            case ValueDescriptor.KIND_COUNTER, ValueDescriptor.KIND_FLAG ->
                OptionalDouble.of(combined(metric, this::word));
            case ValueDescriptor.KIND_WALL_TIMER ->
                tscHz.isPresent()
                        ? OptionalDouble.of(combined(metric, this::ticks) / tscHz.getAsDouble())
                        : OptionalDouble.empty();
            case ValueDescriptor.KIND_PROCESS_TIMER ->
                OptionalDouble.of(combined(metric, (words, timer) -> word(words, timer + ValueDescriptor.TIMER_TOTAL))
                        / 1e9);
            case ValueDescriptor.KIND_NONE -> OptionalDouble.empty();
            default -> throw bytes.damaged("a metric has a value of unknown kind");
        };
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

    private interface OfThread {
        long read(long words, int index) throws IOException;
    }

    private double combined(long metric, OfThread reading) throws IOException {
        int index = bytes.getInt(metric + MetricDescriptor.VALUE);
        LongSummaryStatistics found = new LongSummaryStatistics();
        for (int i = 0; i < values.size(); i++) {
            if (isWanted(metric, threads.get(i))) {
                found.accept(reading.read(values.get(i), index));
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

    /// What a timer has measured, with what it is measuring.
    private long ticks(long words, int timer) throws IOException {
        long running = word(words, timer + ValueDescriptor.TIMER_NESTING) == 0
                ? 0
                : bytes.getLong(HeaderDescriptor.NOW_TSC) - word(words, timer + ValueDescriptor.TIMER_START);
        return word(words, timer + ValueDescriptor.TIMER_TOTAL) + Math.max(0, running);
    }

    private long word(long words, int index) throws IOException {
        if (index <= ValueDescriptor.DEPTH || index >= ValueDescriptor.COUNT) {
            throw bytes.damaged("a metric has the value " + index);
        }
        return bytes.getLong(words + (long) index * Long.BYTES);
    }
}
