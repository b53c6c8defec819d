package org.mdlagent.profiler.report.profile;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.profiler.report.codec.RecordFormatException;
import org.mdlagent.profiler.report.codec.Varint;

/// The distribution of a function's durations: an immutable HdrHistogram with two significant digits. It is
/// sparse, because a session has thousands of functions and most of the library's buckets would be empty.
///
/// Durations are stored in TSC ticks, as recorded, and converted on request.
public final class Latency {
    /// No calls.
    public static final Latency NONE = new Latency(new int[0], new long[0], 0, 0, 0, 0, 0);

    /// That of a 1 MHz clock, slower than any TSC.
    private static final double NANOS_PER_TICK_MAX = 1000;

    /// For percentiles such as 99.9, which have no exact binary representation.
    private static final double ROUNDING = 1e-6;

    private final int[] indices;
    private final long[] counts;
    private final long sampled;
    private final long recorded;
    private final long totalTicks;
    private final long minTicks;
    private final long maxTicks;
    private final double nanosPerTick;

    /// @param indices      of the slots that are not empty, ascending
    /// @param counts       of those slots, each above 0
    /// @param recorded     durations behind `totalTicks`, `minTicks` and `maxTicks`; while the program runs,
    ///     they may differ from those in the slots
    /// @param nanosPerTick 0 if the frequency of the TSC is unknown
    Latency(
            int[] indices,
            long[] counts,
            long recorded,
            long totalTicks,
            long minTicks,
            long maxTicks,
            double nanosPerTick) {
        this.indices = indices;
        this.counts = counts;
        this.recorded = recorded;
        this.totalTicks = totalTicks;
        this.minTicks = minTicks;
        this.maxTicks = maxTicks;
        this.nanosPerTick = nanosPerTick;
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        sampled = sum;
    }

    /// The value that represents a slot's durations.
    public static double middleTicks(int index) {
        return (RowBuckets.lowest(index) + RowBuckets.highest(index)) / 2.0;
    }

    /// Number of durations.
    public long count() {
        return recorded;
    }

    /// Whether durations in nanoseconds are known: there are durations, and the TSC frequency is known.
    public boolean known() {
        return recorded > 0 && nanosPerTick > 0;
    }

    /// Sum of the durations, as recorded.
    public double totalTicks() {
        return totalTicks;
    }

    /// Sum of the durations.
    public OptionalLong totalNanos() {
        return nanos((double) totalTicks);
    }

    /// Extrapolated time of a number of calls.
    public OptionalLong totalNanosOf(long calls) {
        return known() ? nanos((double) totalTicks / recorded * calls) : OptionalLong.empty();
    }

    public OptionalLong minNanos() {
        return nanos((double) minTicks);
    }

    public OptionalLong maxNanos() {
        return nanos((double) maxTicks);
    }

    boolean isOutlastedBy(Latency other) {
        return recorded > 0 && other.recorded > 0 && other.maxTicks > maxTicks;
    }

    /// A copy with at least one duration as long as the other's longest.
    Latency withDurationAsLongAs(Latency other) {
        return new Latency(indices, counts, recorded, totalTicks, minTicks, other.maxTicks, nanosPerTick);
    }

    public OptionalLong meanNanos() {
        return known() ? nanos((double) totalTicks / recorded) : OptionalLong.empty();
    }

    /// Mean of the middle half of the durations (the interquartile mean), in nanoseconds. Calls that waited
    /// do not affect it as long as they are at most a quarter. 0 if no duration is known.
    public double middleMeanNanos() {
        double low = 0.25 * sampled;
        double high = 0.75 * sampled;
        double sum = 0;
        long before = 0;
        for (int slot = 0; slot < counts.length; slot++) {
            long upTo = before + counts[slot];
            double within = Math.max(0, Math.min(upTo, high) - Math.max(before, low));
            sum += within * Math.clamp(middleTicks(indices[slot]), minTicks, maxTicks);
            before = upTo;
        }
        return sampled == 0 ? 0 : sum / (high - low) * nanosPerTick;
    }

    /// The duration that `percentile` percent (0 to 100) of the calls did not exceed.
    public OptionalLong percentileNanos(double percentile) {
        return sampled == 0 ? OptionalLong.empty() : nanos((double) percentileTicks(percentile));
    }

    /// As [#percentileNanos(double)], for durations from a sample of `samples` calls, each weighted by the
    /// calls that it stands for. Empty if the sample is too small to have a call beyond the percentile: p99
    /// takes 100 samples, p99.9 takes 1,000.
    public OptionalLong percentileNanos(double percentile, long samples) {
        return samples * (100 - percentile) >= 100 - ROUNDING ? percentileNanos(percentile) : OptionalLong.empty();
    }

    /// As the library's `getValueAtPercentile`, but limited to the extremes, which rows know exactly.
    long percentileTicks(double percentile) {
        long rank = Math.max(1, (long) Math.ceil(Math.nextDown(percentile / 100 * sampled)));
        long seen = 0;
        int slot = 0;
        while (slot < counts.length - 1 && (seen += counts[slot]) < rank) {
            slot++;
        }
        return Math.min(maxTicks, Math.max(minTicks, RowBuckets.highest(indices[slot])));
    }

    /// The durations recorded since `earlier`, a former state of this distribution. Its extremes are those of
    /// its slots.
    public Latency since(Latency earlier) {
        int[] left = new int[indices.length];
        long[] fresh = new long[indices.length];
        int size = 0;
        int before = 0;
        for (int slot = 0; slot < indices.length; slot++) {
            while (before < earlier.indices.length && earlier.indices[before] < indices[slot]) {
                before++;
            }
            boolean known = before < earlier.indices.length && earlier.indices[before] == indices[slot];
            long count = counts[slot] - (known ? earlier.counts[before] : 0);
            if (count > 0) {
                left[size] = indices[slot];
                fresh[size++] = count;
            }
        }
        return new Latency(
                Arrays.copyOf(left, size),
                Arrays.copyOf(fresh, size),
                Math.max(0, recorded - earlier.recorded),
                Math.max(0, totalTicks - earlier.totalTicks),
                size == 0 ? 0 : Math.max(minTicks, RowBuckets.lowest(left[0])),
                size == 0 ? 0 : Math.min(maxTicks, RowBuckets.highest(left[size - 1])),
                nanosPerTick);
    }

    /// A part of this distribution, given its calls by groups of [SliceDescriptor#SLOT] slots. Its extremes
    /// are those of its slots, within this distribution's extremes.
    public Latency part(long[] calls, long recorded, long totalTicks) {
        int[] used = IntStream.range(0, calls.length).filter(i -> calls[i] > 0).toArray();
        int first = used.length == 0 ? 0 : used[0] * SliceDescriptor.SLOT;
        int last = used.length == 0 ? 0 : (used[used.length - 1] + 1) * SliceDescriptor.SLOT - 1;
        return new Latency(
                IntStream.of(used)
                        .map(i -> i * SliceDescriptor.SLOT + SliceDescriptor.SLOT / 2)
                        .toArray(),
                IntStream.of(used).mapToLong(i -> calls[i]).toArray(),
                recorded,
                totalTicks,
                used.length == 0 ? 0 : Math.max(minTicks, RowBuckets.lowest(first)),
                used.length == 0 ? 0 : Math.min(maxTicks, RowBuckets.highest(last)),
                nanosPerTick);
    }

    /// Mean of the durations in nanoseconds, by slots, and their variance in nanoseconds squared.
    public Moments moments() {
        double sum = 0;
        double squares = 0;
        for (int slot = 0; slot < indices.length; slot++) {
            double nanos = middle(slot);
            sum += counts[slot] * nanos;
            squares += counts[slot] * nanos * nanos;
        }
        double mean = sampled == 0 ? 0 : sum / sampled;
        return new Moments(mean, sampled == 0 ? 0 : Math.max(0, squares / sampled - mean * mean));
    }

    /// @param mean     in nanoseconds
    /// @param variance in nanoseconds squared
    public record Moments(double mean, double variance) {}

    /// Number of non-empty slots.
    public int size() {
        return indices.length;
    }

    /// The index of the n-th non-empty slot.
    public int slot(int n) {
        return indices[n];
    }

    /// The middle of the n-th non-empty slot, in nanoseconds.
    public double middle(int slot) {
        return middleTicks(indices[slot]) * nanosPerTick;
    }

    /// Number of durations in the n-th non-empty slot.
    public long calls(int slot) {
        return counts[slot];
    }

    public double nanosPerTick() {
        return nanosPerTick;
    }

    /// Writes the distribution for [#readFrom].
    void writeTo(DataOutput out) throws IOException {
        out.writeDouble(nanosPerTick);
        out.writeLong(recorded);
        out.writeLong(totalTicks);
        out.writeLong(minTicks);
        out.writeLong(maxTicks);
        out.writeShort(indices.length);
        int before = -1;
        for (int slot = 0; slot < indices.length; slot++) {
            Varint.write(indices[slot] - before, out);
            Varint.write(counts[slot], out);
            before = indices[slot];
        }
    }

    /// Reads what [#writeTo] wrote.
    ///
    /// @throws RecordFormatException when it is anything else
    static Latency readFrom(DataInput in) throws IOException {
        double nanosPerTick = in.readDouble();
        long recorded = in.readLong();
        long totalTicks = in.readLong();
        long minTicks = in.readLong();
        long maxTicks = in.readLong();
        int size = in.readUnsignedShort();
        if (!(nanosPerTick >= 0 && nanosPerTick <= NANOS_PER_TICK_MAX)
                || recorded < 0
                || totalTicks < 0
                || minTicks < 0
                || maxTicks < minTicks
                || size > RowBuckets.SLOTS) {
            throw new RecordFormatException("a distribution has impossible sums");
        }
        int[] indices = new int[size];
        long[] counts = new long[size];
        long index = -1;
        long sum = 0;
        for (int slot = 0; slot < size; slot++) {
            index += Varint.read(in);
            counts[slot] = Varint.read(in);
            sum += counts[slot];
            if (index < slot || index >= RowBuckets.SLOTS || counts[slot] <= 0 || sum <= 0) {
                throw new RecordFormatException("a distribution has impossible slots");
            }
            indices[slot] = (int) index;
        }
        return new Latency(indices, counts, recorded, totalTicks, minTicks, maxTicks, nanosPerTick);
    }

    /// The number of durations between neighbours of `boundsNanos`, which ascend. A slot counts where its
    /// middle is; durations outside count at the edge.
    public long[] spread(double[] boundsNanos) {
        long[] spread = new long[boundsNanos.length - 1];
        int range = 0;
        for (int slot = 0; slot < indices.length; slot++) {
            while (range < spread.length - 1 && middle(slot) >= boundsNanos[range + 1]) {
                range++;
            }
            spread[range] += counts[slot];
        }
        return spread;
    }

    /// The distribution as a histogram of the library, in nanoseconds; empty if durations are not known.
    public Histogram histogram() {
        Histogram histogram = new Histogram(2);
        for (int slot = 0; known() && slot < indices.length; slot++) {
            histogram.recordValueWithCount(Math.round(middle(slot)), counts[slot]);
        }
        return histogram;
    }

    /// Ticks in nanoseconds; empty if the TSC frequency is unknown or there are no durations.
    public OptionalLong nanos(double ticks) {
        return known() ? OptionalLong.of(Math.round(ticks * nanosPerTick)) : OptionalLong.empty();
    }
}
