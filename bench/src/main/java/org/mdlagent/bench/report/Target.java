package org.mdlagent.bench.report;

import static java.lang.String.format;

import java.util.Locale;

/// Targets: section 13 of the design.
public enum Target {
    COUNTER("counter at a function's entry", 3, "ticks"),
    EXACT_TABLE("entry and exit of every call, exact table", 70, "ticks"),
    INACTIVE("an inactive probe", 1, "ticks"),
    BARE_COUNTER("counter in an unmodified binary", 6, "ticks", "uprobe 41,500"),
    BARE_EXACT_TABLE("entry and exit in an unmodified binary, exact table", 75, "ticks"),
    BARE_ON_DEMAND(
            "making a probe of a function of a library that is opened",
            10,
            "us",
            "10-20 (uprobe), 1.9 M ticks (Dyninst)"),
    BARE_HUNDRED("probes in 100 functions by command", 10, "ms"),
    BARE_FOUND("a function with 10 % of the time is found, 40,000 functions", 2, "s"),
    CALLPATCH("toggle one callpatch probe through the Java API", 100, "ticks"),
    STRADDLER("toggle one straddler by wordpatch, synchronous", 2 * Machine.TMAX_TICKS + 300, "ticks"),
    BATCH("toggle 20,000 probes in a batch, each", 150, "ticks"),
    TOGGLE_ALL("toggle 20,000 probes", 10, "ms"),
    INITIALISATION("initialisation of a probe", 2_000, "ticks", "published 18,000"),
    MAIN_DELAY("main delayed by the agent", 2, "ms"),
    PROFILING("profiling at 1 %", 1, "%", "published 0.2-11"),
    REQUEST("request for a metric to its first event, 10,000 functions", 5, "ms"),
    CALLS_SHORT("error of CALLS after 10 s, median", 8, "%"),
    CALLS_LONG("error of CALLS after 60 s, median", 3, "%"),
    TOTAL_SHORT("error of TOTAL and SELF after 10 s, median", 5, "%"),
    TOTAL_LONG("error of TOTAL and SELF after 60 s, median", 2, "%"),
    MEDIAN("error of p50, median", 5, "%"),
    P99("error of p99, median", 10, "%"),
    P999("error of p99.9, median", 20, "%"),
    OUTSIDE("truth outside the stated 95 %", 7, "%");

    private final String what;
    private final double goal;
    private final String unit;
    private final String published;

    Target(String what, double goal, String unit) {
        this(what, goal, unit, "");
    }

    /// @param published published figures of others: `published FIGURE`
    Target(String what, double goal, String unit, String published) {
        this.what = what;
        this.goal = goal;
        this.unit = unit;
        this.published = published;
    }

    /// @return whether a figure meets the target
    public boolean isMetBy(double figure) {
        return figure <= goal;
    }

    /// Formats the target and the result for a table.
    ///
    /// @param figure in this target's unit
    public String verdict(double figure) {
        return format(Locale.ROOT, "%,.0f %s", goal, isMetBy(figure) ? "met" : "missed");
    }

    String what() {
        return what;
    }

    /// The published figure as a peer, if a run has none; empty if none is published.
    String published() {
        return published;
    }

    /// With its unit.
    String goal() {
        return quantity(goal);
    }

    String quantity(double figure) {
        return format(Locale.ROOT, Math.abs(figure) < 100 ? "%,.2f %s" : "%,.0f %s", figure, unit);
    }
}
