package org.mdlagent.runtime;

import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.CallCounter;
import org.mdlagent.profiler.Collected;
import org.mdlagent.profiler.Collector;
import org.mdlagent.profiler.ExactProfiler;
import org.mdlagent.profiler.NoProfiler;
import org.mdlagent.profiler.Schedule;
import org.mdlagent.profiler.ScheduledCollector;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.sampled.SampledProfiler;
import org.mdlagent.runtime.options.AgentLog;
import org.mdlagent.runtime.options.AgentOptions;

/// The collector that the options ask for.
record CollectorChoice(AgentOptions options) {
    private boolean isLatency() {
        return options.collected() == Collected.LATENCY;
    }

    /// Whether the probes are there for clients and metrics alone.
    boolean isUnprofiled() {
        return isLatency() && !options.profile();
    }

    /// Whether every call is recorded. Without the profiler it is, at probes that clients request.
    boolean isExact() {
        return isLatency() && (options.exact() || !options.profile());
    }

    boolean isSampled() {
        return isLatency() && !isExact();
    }

    /// For the log.
    String mode() {
        if (!isLatency()) {
            return "for " + options.collected().key();
        }
        return isUnprofiled() ? "for clients alone" : isExact() ? "every call" : "sampled";
    }

    /// @param tscHz frequency of the time-stamp counter, roughly
    Collector collector(NativeApi api, Probes probes, double tscHz, AgentLog log) {
        Collector collector = unscheduled(api, probes, tscHz, log);
        return isUnprofiled() || options.schedule().equals(Schedule.ALWAYS)
                ? collector
                : new ScheduledCollector(collector, options.schedule(), probes::isLeftOut, System::nanoTime);
    }

    private Collector unscheduled(NativeApi api, Probes probes, double tscHz, AgentLog log) {
        if (!isLatency()) {
            return new CallCounter(api, probes, options.collected() == Collected.COVERAGE);
        }
        if (isUnprofiled()) {
            return new NoProfiler(api, probes);
        }
        if (isExact()) {
            return new ExactProfiler(api, probes, new PcSamples(api, probes, tscHz / 1e9, log::line));
        }
        double budget = options.budgetPercent() / 100;
        Memory.putDouble(api.session() + HeaderDescriptor.BUDGET, budget);
        return new SampledProfiler(
                api,
                probes,
                budget,
                tscHz,
                () -> log.line("the functions of exact= and counted= cost more than the budget of "
                        + options.budgetPercent() + " %: the others are sampled within a tenth of it"),
                log::line);
    }
}
