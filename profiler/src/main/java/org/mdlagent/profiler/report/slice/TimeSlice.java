package org.mdlagent.profiler.report.slice;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.mdlagent.profiler.report.file.SessionFormatException;

/// The measurements of a time slice of a session.
public final class TimeSlice {
    private final long number;
    private final Instant start;
    private final Instant end;
    private final Costs costs;
    private final int functions;
    private final int leftOut;
    private final SliceNumbers numbers;

    /// The cost of measuring in the slice, and the CPU time of the program, in nanoseconds.
    record Costs(long agentNanos, long programNanos, long probeNanos) {
        static final Costs NONE = new Costs(0, 0, 0);

        Costs plus(Costs other) {
            return new Costs(
                    Math.addExact(agentNanos, other.agentNanos),
                    Math.addExact(programNanos, other.programNanos),
                    Math.addExact(probeNanos, other.probeNanos));
        }
    }

    /// @param number    among the session's slices, from 0
    /// @param functions number of functions in the bytes
    /// @param leftOut   number of functions that there was no room for
    TimeSlice(long number, Instant start, Instant end, Costs costs, int functions, int leftOut, SliceNumbers numbers) {
        this.number = number;
        this.start = start;
        this.end = end;
        this.costs = costs;
        this.functions = functions;
        this.leftOut = leftOut;
        this.numbers = numbers;
    }

    /// Number among the session's slices, from 0.
    public long number() {
        return number;
    }

    public Instant start() {
        return start;
    }

    public Instant end() {
        return end;
    }

    /// Whether it shares a moment with `[from, to)`, or contains `from`.
    public boolean overlaps(Instant from, Instant to) {
        return end.isAfter(from) && (start.isBefore(to) || !start.isAfter(from));
    }

    Costs costs() {
        return costs;
    }

    int leftOut() {
        return leftOut;
    }

    /// The functions that were called, unordered.
    ///
    /// @throws SessionFormatException when they cannot be read
    public List<FunctionSlice> functions() throws SessionFormatException {
        List<FunctionSlice> all = new ArrayList<>();
        numbers.rewind();
        for (int i = 0; i < functions; i++) {
            all.add(FunctionSlice.read(numbers));
        }
        numbers.checkEnd();
        return all;
    }

    /// One function, empty if it was not called.
    ///
    /// @throws SessionFormatException when they cannot be read
    public Optional<FunctionSlice> function(int function) throws SessionFormatException {
        numbers.rewind();
        for (int i = 0; i < functions; i++) {
            FunctionSlice slice = FunctionSlice.read(numbers);
            if (slice.function() == function) {
                return Optional.of(slice);
            }
        }
        return Optional.empty();
    }
}
