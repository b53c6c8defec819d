package org.mdlagent.profiler.slice;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Writes time slices: at intervals, the increase of each function's measurements goes into a ring in the
/// session file ([SliceRing]). The ring covers at least the last hour, except at the start of a session.
///
/// A slice of a young session is 25 ms long, so that a program of 1.6 seconds has sixty, unless there are so many
/// functions that writing would take more than its share of the time. From eight minutes on a slice is ten seconds.
///
/// Used by one thread, the agent's.
public final class TimeSlices {
    /// A slice is 1 / the first of the session's age, within bounds, and longer if writing it would take more
    /// than the second, as a share of its length.
    private static final int AGE_PART = 48;

    private static final double WRITING_PART = 0.003;

    /// The share while writing has taken less CPU time than this since the session began: its code is not compiled yet,
    /// and short runs need slices, too.
    private static final double EARLY_PART = 0.02;

    private static final long EARLY_NANOS = 50_000_000;

    private static final double SHORTEST_SECONDS = 0.025;
    private static final double LONGEST_SECONDS = 10;

    private final long header;
    private final CallTables tables;
    private final SliceRing ring;
    private final long fixedTicks;
    private final double ticksPerSecond;
    private final RowSums sums = new RowSums();
    private final SliceBytes bytes = new SliceBytes();

    /// By function, null before its first call.
    private @Nullable FunctionMark[] marks = {};

    private long begin;
    private long writingTicks;
    private long writtenNanos;
    private long agentNanos;
    private long programNanos;
    private double probeTicks;

    /// Whether nothing was called in the last slice.
    private boolean idle;

    /// A function's data in a slice.
    private record Part(byte[] bytes, long ticks) {}

    /// @param header   address of the session's header; the probes are armed
    /// @param allocate returns zeroed session memory of a size, 0 if there is none
    /// @param exact    whether every call is recorded
    /// @param millis   length of all slices, 0 to adapt it to the session's age
    /// @param tscHz    approximate frequency of the time-stamp counter
    public TimeSlices(long header, LongUnaryOperator allocate, boolean exact, int millis, double tscHz) {
        this.header = header;
        tables = new CallTables(header, exact);
        ring = new SliceRing(header, allocate);
        ticksPerSecond = tscHz;
        fixedTicks = (long) (millis / 1e3 * tscHz);
        begin = Memory.getLong(header + HeaderDescriptor.ARMED_TSC);
        agentNanos = Memory.getLong(header + HeaderDescriptor.AGENT_CPU_NANOS);
    }

    /// Whether a slice is over.
    public boolean isDue(long tsc) {
        return tsc - begin >= length();
    }

    /// Nanoseconds until the slice is over; [Long#MAX_VALUE] while nothing is called, because an idle program wakes
    /// nobody.
    public long nanosToEnd(long tsc) {
        return idle ? Long.MAX_VALUE : (long) Math.max(0, (begin + length() - tsc) / ticksPerSecond * 1e9);
    }

    private long length() {
        if (fixedTicks > 0) {
            return fixedTicks;
        }
        double age = begin - Memory.getLong(header + HeaderDescriptor.ARMED_TSC);
        return (long) Math.clamp(
                Math.max(age / AGE_PART, writingTicks / (writtenNanos < EARLY_NANOS ? EARLY_PART : WRITING_PART)),
                SHORTEST_SECONDS * ticksPerSecond,
                LONGEST_SECONDS * ticksPerSecond);
    }

    /// Writes the slice that ends now.
    public void write(long tsc) {
        tables.refresh();
        marks = Arrays.copyOf(marks, tables.functions());
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < marks.length; i++) {
            Part part = part(i);
            if (part != null) {
                parts.add(part);
            }
        }
        publish(parts, tsc);
        idle = parts.isEmpty();
        begin = tsc;
    }

    /// Sets the CPU time that writing the last slice took. The first slice does not count, because its code was just
    /// loaded.
    public void setWritingNanos(long nanos) {
        writtenNanos += nanos;
        writingTicks = ring.complete() > 1 ? (long) (nanos * ticksPerSecond / 1e9) : 0;
    }

    /// A function's data in the slice, null if there is none.
    private @Nullable Part part(int function) {
        long calls = tables.calls(function);
        FunctionMark mark = marks[function];
        if (mark == null) {
            if (calls == 0 && tables.timed(function) == 0) {
                return null;
            }
            mark = new FunctionMark();
            marks[function] = mark;
        } else if (!mark.isPassed(calls, tables.timed(function))) {
            return null;
        }
        sums.clear();
        tables.add(function, sums);
        bytes.clear();
        long ticks = mark.advance(function, calls, tables.variance(function), sums, bytes);
        return new Part(bytes.copy(0, bytes.size()), ticks);
    }

    private void publish(List<Part> parts, long tsc) {
        int needed = 0;
        for (Part part : parts) {
            needed += part.bytes.length;
        }
        int room = ring.reserve(needed);
        if (room < 0) {
            return;
        }
        if (room < needed) {
            parts.sort(Comparator.comparingLong((Part part) -> part.ticks).reversed());
        }
        bytes.clear();
        int fit = 0;
        while (fit < parts.size() && bytes.size() + parts.get(fit).bytes.length <= room) {
            bytes.append(parts.get(fit++).bytes);
        }
        long row = ring.row();
        Memory.putLong(row + SliceDescriptor.START_TSC, begin);
        Memory.putLong(row + SliceDescriptor.END_TSC, tsc);
        Memory.putInt(row + SliceDescriptor.FUNCTIONS, fit);
        Memory.putInt(row + SliceDescriptor.LEFT_OUT, parts.size() - fit);
        putCosts(row);
        ring.publish(bytes);
    }

    private void putCosts(long row) {
        long agent = Memory.getLong(header + HeaderDescriptor.AGENT_CPU_NANOS);
        long program = Memory.getLong(header + HeaderDescriptor.PROGRAM_CPU_NANOS);
        double probes = tables.probeTicks();
        Memory.putLong(row + SliceDescriptor.AGENT_CPU_NANOS, agent - agentNanos);
        Memory.putLong(row + SliceDescriptor.PROGRAM_CPU_NANOS, program - programNanos);
        Memory.putLong(row + SliceDescriptor.PROBE_TICKS, Math.max(0, Math.round(probes - probeTicks)));
        agentNanos = agent;
        programNanos = program;
        probeTicks = probes;
    }
}
