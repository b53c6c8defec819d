package org.mdlagent.profiler.report.profile;

import java.util.List;
import org.mdlagent.profiler.estimate.Confidence;

/// Where the program's threads were, in user mode, whenever each had taken some CPU time: what a clock of the kernel
/// has sampled. Each sample is in a function's own code, in probes, in an image's other code, or elsewhere.
///
/// @param periodNanos CPU time of a thread from one sample to the next
/// @param samples     of all, each counted as often as the periods that it stands for: threads that often wait are
///                    sampled in one second of so many
/// @param weight      how often a sample is counted, in the mean of the counts: 1 where all threads were sampled all
///                    the time
/// @param inProbes    in the profiler's own code
/// @param elsewhere   in no image that is known
/// @param lost        that nobody has taken from the kernel in time; not among `samples`
/// @param notProbed   in code that is no probed function's, the image with the most samples first
/// @param cut         whose path is longer than what the kernel copied of the stack: its outer part is not known
/// @param withoutTable whose path has code without unwind tables: what called that is not known
/// @param leftOut     whose path found no room
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

    /// Of a session for which the kernel gave none.
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

    /// The most CPU time of what no sample has met, in 95 of 100 cases, in nanoseconds.
    public double nanosUnmet() {
        return Math.min(Confidence.UNMET_OBSERVATIONS, samples / weight) * weight * periodNanos;
    }

    /// What probes have taken of the CPU time, in nanoseconds: as predicted, or as samples tell, where so many more are
    /// not there by chance (two standard deviations of a Poisson distribution). Predictions know little of caches.
    public double probeNanos(double predicted) {
        double told = (double) inProbes * periodNanos;
        double chance = DEVIATIONS * Math.sqrt(inProbes * weight) * periodNanos;
        return told - chance > predicted ? told : predicted;
    }

    /// How much of the CPU time was spent in code without probes.
    public double notProbedPercent() {
        return percent(elsewhere)
                + notProbed.stream().mapToDouble(of -> percent(of.samples)).sum();
    }

    /// How much of it so many samples are; none of none.
    public double percent(long part) {
        return isEmpty() ? 0 : 100.0 * part / samples;
    }
}
