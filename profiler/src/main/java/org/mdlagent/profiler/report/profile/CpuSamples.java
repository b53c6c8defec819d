package org.mdlagent.profiler.report.profile;

import java.util.List;
import org.mdlagent.profiler.figures.Confidence;

/// Where the program's threads spent their CPU time in user mode, sampled by a per-thread CPU clock of the
/// kernel. Each sample is in a function's own code, in probes, in an image's other code, or elsewhere.
///
/// @param periodNanos CPU time of a thread from one sample to the next
/// @param samples     all samples, weighted by the periods that each stands for: threads that wait often are
///     sampled in one second of N
/// @param weight      mean weight of a sample; 1 if all threads were sampled all the time
/// @param inProbes    samples in the profiler's own code
/// @param elsewhere   samples in no known image
/// @param lost        samples lost because the kernel's rings were read too late; not among `samples`
/// @param notProbed   samples in code of no probed function, by image, most samples first
/// @param cut         samples whose stack is deeper than the kernel's copy: the outer part of the path is
///     unknown
/// @param withoutTable samples whose path has code without unwind tables: its callers are unknown
/// @param leftOut     samples whose path was not recorded for lack of room
public record CpuSamples(
        long periodNanos,
        long samples,
        double weight,
        long inProbes,
        long elsewhere,
        long lost,
        List<OfImage> notProbed,
        long cut,
        long withoutTable,
        long leftOut) {
    private static final double DEVIATIONS = 2;

    /// For a session without samples from the kernel.
    public static final CpuSamples NONE = new CpuSamples(0, 0, 1, 0, 0, 0, List.of(), 0, 0, 0);

    /// @param image path of the ELF file
    public record OfImage(String image, long samples) {}

    public CpuSamples {
        notProbed = List.copyOf(notProbed);
    }

    public boolean isEmpty() {
        return samples == 0;
    }

    /// The CPU time that the samples stand for.
    public double nanos() {
        return (double) samples * periodNanos;
    }

    /// Upper bound of the CPU time, in nanoseconds, of code that no sample met, with 95 % confidence.
    public double nanosUnmet() {
        return Math.min(Confidence.UNMET_OBSERVATIONS, samples / weight) * weight * periodNanos;
    }

    /// The CPU time of probes in nanoseconds: the prediction; or the samples' share, if it exceeds the
    /// prediction by more than chance (two standard deviations of a Poisson distribution). Predictions know
    /// little of caches.
    public double probeNanos(double predicted) {
        double told = (double) inProbes * periodNanos;
        double chance = DEVIATIONS * Math.sqrt(inProbes * weight) * periodNanos;
        return told - chance > predicted ? told : predicted;
    }

    /// The share of the CPU time in code without probes, in percent.
    public double notProbedPercent() {
        return percent(elsewhere)
                + notProbed.stream().mapToDouble(of -> percent(of.samples)).sum();
    }

    /// A number of samples in percent of all; 0 if there are none.
    public double percent(long part) {
        return isEmpty() ? 0 : 100.0 * part / samples;
    }
}
