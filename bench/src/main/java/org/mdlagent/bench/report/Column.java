package org.mdlagent.bench.report;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// A value of a function that is compared with the truth: calls, or nanoseconds.
public enum Column {
    CALLS("calls", function -> OptionalLong.of(function.calls()), Column::ofCalls),
    TOTAL(
            "total",
            FunctionProfile::shownTotalNanos,
            function -> function.times().totalError()),
    SELF("self", FunctionProfile::shownSelfNanos, function -> function.times().selfError()),
    P50("p50", 50),
    P90("p90", 90),
    P99("p99", 99),
    P999("p99.9", 99.9),
    /// A lower bound in a sample, and shown as such.
    MAX("max", function -> function.latency().maxNanos(), function -> OptionalDouble.empty());

    private final String label;
    private final Function<FunctionProfile, OptionalLong> value;
    private final Function<FunctionProfile, OptionalDouble> error;

    Column(
            String label,
            Function<FunctionProfile, OptionalLong> value,
            Function<FunctionProfile, OptionalDouble> error) {
        this.label = label;
        this.value = value;
        this.error = error;
    }

    Column(String label, double percentile) {
        this(label, function -> function.percentileNanos(percentile), function -> OptionalDouble.empty());
    }

    /// A count without an error claims to be exact.
    private static OptionalDouble ofCalls(FunctionProfile function) {
        return function.callsExact() ? OptionalDouble.of(0) : function.callsError();
    }

    /// Empty if a report shows a dash.
    OptionalLong of(FunctionProfile function) {
        return value.apply(function);
    }

    /// Half-width of the stated 95 % interval relative to the value; empty if none is stated.
    OptionalDouble error(FunctionProfile function) {
        return error.apply(function);
    }

    /// As a report shows it.
    public String shown(FunctionProfile function) {
        OptionalLong shown = of(function);
        return shown.isPresent() ? Long.toString(shown.getAsLong()) : "-";
    }

    @Override
    public String toString() {
        return label;
    }
}
