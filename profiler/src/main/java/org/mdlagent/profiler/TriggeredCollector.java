package org.mdlagent.profiler;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.ProbeFilter;

/// Runs another collector when a [Rule] holds. Until then all functions are closed except those of the rule. Windows of
/// the rule last a second.
///
/// | | a window in which the rule held | any other window |
/// | --- | --- | --- |
/// | waits | collects | waits |
/// | collects | collects for the schedule's duration from now on | waits when that is over |
///
/// Without a duration it collects from the first such window to the end.
///
/// Used by one thread, the agent's.
public final class TriggeredCollector extends PausingCollector {
    private static final double WINDOW_NANOS = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private final RuleWatch watch;
    private final Schedule schedule;
    private final Supplier<List<Integer>> matching;
    private final LongSupplier nanoTime;
    private final Consumer<Boolean> log;
    private final Set<Integer> ofRule = new HashSet<>();
    private boolean begun;
    private double begin;
    private double windowBegin;
    private double onUntil;

    /// @param schedule when to look at the rule, and how long to collect; not repeated
    /// @param matching the known functions that the rule is about
    /// @param isClosed whether a function is closed now
    /// @param nanoTime a clock
    /// @param log      gets whether it collects, when that changes
    TriggeredCollector(
            Collector collector,
            RuleWatch watch,
            Schedule schedule,
            Supplier<List<Integer>> matching,
            IntPredicate isClosed,
            LongSupplier nanoTime,
            Consumer<Boolean> log) {
        super(collector, isClosed, false);
        this.watch = watch;
        this.schedule = schedule;
        this.matching = matching;
        this.nanoTime = nanoTime;
        this.log = log;
    }

    /// @param tscHz approximate frequency of the time-stamp counter
    /// @param log   gets whether it collects, when that changes
    public static Collector of(
            Collector collector,
            NativeApi api,
            Probes probes,
            Rule rule,
            Schedule schedule,
            ProbeFilter ofRule,
            double tscHz,
            Consumer<Boolean> log) {
        return new TriggeredCollector(
                collector,
                new RuleWatch(rule, new SessionCalls(api.session()), tscHz / 1e9),
                schedule,
                () -> probes.functions(ofRule),
                probes::isLeftOut,
                System::nanoTime,
                log);
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        if (!begun) {
            begun = true;
            begin = nanoTime.getAsLong();
            windowBegin = begin;
        }
        ofRule.addAll(matching.get());
        super.open(functions, whole);
        functions.stream().filter(ofRule::contains).forEach(watch::add);
    }

    @Override
    boolean canPause(int function) {
        return !ofRule.contains(function);
    }

    @Override
    public double tick() {
        double wait = collector.tick();
        if (!begun) {
            return wait;
        }
        double now = nanoTime.getAsLong();
        if (now - windowBegin >= WINDOW_NANOS) {
            boolean held = watch.look((now - windowBegin) / 1e9);
            windowBegin = now;
            if (held && now - begin >= schedule.afterMillis() * NANOS_PER_MILLI) {
                onUntil = schedule.forMillis() == 0
                        ? Double.POSITIVE_INFINITY
                        : now + schedule.forMillis() * NANOS_PER_MILLI;
            }
        }
        boolean wanted = now < onUntil;
        if (wanted != isOn()) {
            log.accept(wanted);
            setOn(wanted);
        }
        double next = windowBegin + WINDOW_NANOS;
        return Math.max(0, Math.min(wait, (isOn() ? Math.min(next, onUntil) : next) - now));
    }
}
