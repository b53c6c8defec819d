package org.mdlagent.profiler.report.slice;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.profiler.figures.Confidence;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.report.statistics.EdgeSums;
import org.mdlagent.profiler.report.statistics.TotalErrors;

/// Sums time slices.
public final class SliceSums {
    private final List<TimeSlice> slices;

    /// By function, null if it was not called.
    private final @Nullable Sum[] sums;

    private final EdgeSums edges;

    /// The sums of one function; fields as in [FunctionSlice].
    private static final class Sum {
        private final long[] slots = new long[SliceDescriptor.SLOTS];
        private long calls;
        private long variance;
        private long timed;
        private long ticks;
        private long selfTicks;
        private long samples;

        void add(FunctionSlice slice) {
            calls = Math.addExact(calls, slice.calls());
            variance = Math.addExact(variance, slice.variance());
            timed = Math.addExact(timed, slice.timed());
            ticks = Math.addExact(ticks, slice.ticks());
            selfTicks = Math.addExact(selfTicks, slice.selfTicks());
            samples = Math.addExact(samples, slice.samples());
            for (FunctionSlice.Slot slot : slice.slots()) {
                slots[slot.index()] = Math.addExact(slots[slot.index()], slot.calls());
            }
        }
    }

    /// @param slices    in the order of time, at least one
    /// @param functions number of functions that the session knows
    public SliceSums(List<TimeSlice> slices, int functions) throws IOException {
        this.slices = slices;
        sums = new Sum[functions];
        edges = new EdgeSums(functions);
        for (TimeSlice slice : slices) {
            slice.functions().forEach(this::add);
        }
    }

    private void add(FunctionSlice slice) {
        Sum sum = sums[slice.function()];
        if (sum == null) {
            sum = new Sum();
            sums[slice.function()] = sum;
        }
        sum.add(slice);
        for (FunctionSlice.Caller caller : slice.callers()) {
            edges.add(slice.function(), caller.function(), caller.calls(), caller.ticks(), caller.samples());
        }
    }

    /// The profile of the slices; what they lack is taken from `whole`, the session's profile.
    public Profile profile(Profile whole) {
        List<FunctionProfile> functions = new ArrayList<>();
        for (int i = 0; i < sums.length; i++) {
            functions.add(function(whole.functions().get(i), sums[i], whole.session()));
        }
        List<EdgeSums.Estimate> between = edges.estimates(functions);
        functions = edges.withSelf(functions, between, new TotalErrors(functions, whole.session()), true);
        TimeSlice.Costs costs =
                slices.stream().map(TimeSlice::costs).reduce(TimeSlice.Costs.NONE, TimeSlice.Costs::plus);
        TimeRange range = range();
        return whole.during(
                range,
                whole.session()
                        .during(
                                Duration.between(range.from(), range.to()).toNanos(),
                                costs.agentNanos(),
                                costs.programNanos()),
                functions,
                costs.probeNanos(),
                EdgeSums.join(functions, between));
    }

    private TimeRange range() {
        return new TimeRange(
                slices.getFirst().start(),
                slices.getLast().end(),
                slices.size(),
                slices.stream().mapToLong(TimeSlice::leftOut).sum());
    }

    private static FunctionProfile function(FunctionProfile whole, @Nullable Sum sum, SessionFacts session) {
        if (sum == null) {
            return whole.with(0, OptionalDouble.empty(), 0, Latency.NONE, FunctionProfile.Times.UNKNOWN);
        }
        Latency latency = whole.latency().part(sum.slots, sum.timed, sum.ticks);
        if (whole.exact()) {
            return whole.with(
                    Math.max(sum.calls, sum.timed),
                    OptionalDouble.empty(),
                    sum.timed,
                    latency,
                    FunctionProfile.Times.of(
                            latency.totalNanos(),
                            session.exact() ? latency.nanos(sum.selfTicks) : OptionalLong.empty()));
        }
        long calls = Math.max(sum.calls, sum.samples);
        return whole.with(
                calls,
                Confidence.relativeError(sum.variance, calls),
                sum.samples,
                latency,
                FunctionProfile.Times.of(latency.totalNanosOf(calls), OptionalLong.empty()));
    }
}
