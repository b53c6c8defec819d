package org.mdlagent.bench.probes;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.Tracer;

/// A variant of calls and its measurements by round: a row of [CallCosts]'s table.
final class CallVariant {
    /// Parameters of a process.
    ///
    /// @param warmUps number of unmeasured runs
    /// @param repeats number of measurements; the median counts
    /// @param count   calls per measurement
    /// @param pauses  whether there is a pause before each
    record Calls(int warmUps, int repeats, int count, boolean pauses) {}

    /// Ticks for a call.
    ///
    /// @param agent CPU time of the agent, beside the program's
    record Ticks(double program, double agent) {
        static final Ticks NONE = new Ticks(Double.NaN, Double.NaN);
    }

    final String what;
    final Build build;
    final Tracer tracer;
    final Calls calls;

    /// The reference of its cost; null for references themselves.
    final @Nullable CallVariant base;

    /// Published ticks.
    String published = "-";

    @Nullable
    Target target;

    /// Why it cannot be measured, or null.
    final @Nullable String absence;

    /// Reason of the last invalid round.
    @Nullable
    String problem;

    final List<Ticks> rounds = new ArrayList<>();

    CallVariant(String what, Build build, Tracer tracer, Calls calls, @Nullable CallVariant base) {
        this.what = what;
        this.build = build;
        this.tracer = tracer;
        this.calls = calls;
        this.base = base;
        String command = tracer.command();
        absence = build.compiler() == null
                ? "absent: there is no clang"
                : command != null && !Build.isCommand(command) ? "absent: there is no " + command : null;
    }

    CallVariant published(String ticks) {
        published = ticks;
        return this;
    }

    CallVariant target(Target reached) {
        target = reached;
        return this;
    }

    /// The cost in each valid round.
    double[] costs() {
        double agent = Math.max(0, agentsPart());
        return IntStream.range(0, rounds.size())
                .mapToDouble(i -> rounds.get(i).program()
                        + agent
                        - (base == null ? 0 : base.rounds.get(i).program()))
                .filter(cost -> !Double.isNaN(cost))
                .toArray();
    }

    /// The median over all rounds, because it is a small difference of large figures. Unknown if below 0.
    double agentsPart() {
        return Percentile.median(rounds.stream()
                .mapToDouble(Ticks::agent)
                .filter(ticks -> !Double.isNaN(ticks))
                .toArray());
    }
}
