package org.mdlagent.bench.report;

import java.util.Locale;
import org.mdlagent.arch.cpu.Cpu;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.arch.shim.NativeApi;

/// The machine that figures were measured on.
///
/// @param ticksPerNano frequency of the time-stamp counter, measured
public record Machine(CpuIdentity cpu, double ticksPerNano) {
    /// Assumed wait until every core sees a store.
    public static final long TMAX_TICKS = Long.getLong("mdl.tmax", 3_000);

    /// Measuring time for the ratio of the two clocks.
    private static final long CLOCK_NANOS = 200_000_000;

    public static Machine of(NativeApi api) {
        long nanos = System.nanoTime();
        long ticks = api.tsc();
        while (System.nanoTime() - nanos < CLOCK_NANOS) {
            Thread.onSpinWait();
        }
        double ticksPerNano = (double) (api.tsc() - ticks) / (System.nanoTime() - nanos);
        return new Machine(CpuIdentity.ofProcess(api, ticksPerNano * 1e9), ticksPerNano);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s (family %d, model %d, stepping %d, microcode %s, %s), %d processors, TSC %.0f MHz, atomic unit %d, Linux %s",
                cpu.modelName(),
                cpu.family(),
                cpu.model(),
                cpu.stepping(),
                cpu.microcode(),
                cpu.hypervisor().isEmpty() ? "no hypervisor" : cpu.hypervisor(),
                Runtime.getRuntime().availableProcessors(),
                ticksPerNano * 1000,
                Cpu.atomicUnit(),
                System.getProperty("os.version"));
    }
}
