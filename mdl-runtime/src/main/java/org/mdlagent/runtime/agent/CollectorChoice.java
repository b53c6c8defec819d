package org.mdlagent.runtime.agent;

import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.CopiedCounts;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.CallCounter;
import org.mdlagent.profiler.Collector;
import org.mdlagent.profiler.EventCollector;
import org.mdlagent.profiler.ExactProfiler;
import org.mdlagent.profiler.NoProfiler;
import org.mdlagent.profiler.Rule;
import org.mdlagent.profiler.ScheduledCollector;
import org.mdlagent.profiler.SlowCallCollector;
import org.mdlagent.profiler.TriggeredCollector;
import org.mdlagent.profiler.cpu.EventSamples;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.sampled.SampledProfiler;
import org.mdlagent.runtime.options.AgentLog;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;

/// The collector that the options ask for.
record CollectorChoice(AgentOptions options) {
    private boolean isLatency() {
        return options.profiling().collected().isTimed();
    }

    /// Whether the probes are there for clients and metrics alone.
    boolean isUnprofiled() {
        return isLatency() && !options.profiling().on();
    }

    /// Whether every call is recorded. Without the profiler it is, at probes that clients request.
    boolean isExact() {
        return isLatency()
                && (options.recording().exact() || !options.profiling().on());
    }

    boolean isSampled() {
        return isLatency() && !isExact();
    }

    /// What copies of functions count.
    CopiedCounts copied() {
        return switch (options.profiling().collected()) {
            case BLOCKS -> CopiedCounts.BLOCKS;
            case ARCS -> CopiedCounts.ARCS;
            default -> CopiedCounts.NONE;
        };
    }

    /// For the log.
    String mode() {
        if (!isLatency()) {
            return "for " + options.profiling().collected().key()
                    + (options.profiling().collected().hasProbes()
                            ? ""
                            : ": " + options.profiling().event().word());
        }
        return (isUnprofiled() ? "for clients alone" : isExact() ? "every call" : "sampled")
                + (options.profiling().slow().isWanted() ? ", with slow calls" : "");
    }

    /// @param tscHz frequency of the time-stamp counter, roughly
    Collector collector(NativeApi api, Probes probes, double tscHz, AgentLog log) {
        Collector collector = options.profiling().slow().isWanted()
                ? SlowCallCollector.of(
                        api, options.profiling().slow(), tscHz, () -> unscheduled(api, probes, tscHz, log))
                : unscheduled(api, probes, tscHz, log);
        Rule rule = options.profiling().when();
        if (rule != null && !isUnprofiled()) {
            return TriggeredCollector.of(
                    collector,
                    api,
                    probes,
                    rule,
                    options.profiling().schedule(),
                    new Matching(FunctionGlob.of(rule.function())),
                    tscHz,
                    on -> log.line(on ? "collects: " + rule.text() : "waits for " + rule.text()));
        }
        return isUnprofiled() || options.profiling().schedule().isAlways()
                ? collector
                : new ScheduledCollector(
                        collector, options.profiling().schedule(), probes::isLeftOut, System::nanoTime);
    }

    private Collector unscheduled(NativeApi api, Probes probes, double tscHz, AgentLog log) {
        if (!options.profiling().collected().hasProbes()) {
            return new EventCollector(
                    api, new EventSamples(api, probes, options.profiling().event(), log::line));
        }
        if (!isLatency()) {
            return new CallCounter(api, probes, options.profiling().collected() == Collected.COVERAGE);
        }
        if (isUnprofiled()) {
            return new NoProfiler(api, probes);
        }
        if (isExact()) {
            return new ExactProfiler(api, probes, new PcSamples(api, probes, tscHz / 1e9, log::line));
        }
        double budget = options.profiling().budgetPercent() / 100;
        Memory.putDouble(api.session() + HeaderDescriptor.BUDGET, budget);
        return new SampledProfiler(
                api,
                probes,
                budget,
                tscHz,
                () -> log.line("the functions of exact= and counted= cost more than the budget of "
                        + options.profiling().budgetPercent() + " %: the others are sampled within a tenth of it"),
                log::line);
    }
}
