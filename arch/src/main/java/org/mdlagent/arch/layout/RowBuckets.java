package org.mdlagent.arch.layout;

/// Which slot of a row's histogram a duration is counted in: the index of HdrHistogram's counts array for two
/// significant digits. Up to 255 ticks each has a slot; from there on 128 slots share each power of two.
///
///     shift = floor(log2(ticks | 255)) - 7
///     index = (ticks >>> shift) + 128 * shift
///
/// The shim and generated code compute the same (`record`, `RecordingAssembler`, `WholeCallAssembler`); a test holds
/// all of them together.
public final class RowBuckets {
    /// `ticks | SUB_BUCKET_MASK` makes the arithmetic right for small durations too.
    public static final int SUB_BUCKET_MASK = 255;

    public static final int SUB_BUCKET_HALF_BITS = 7;

    /// Slots that a row has: for durations below `2^54`.
    public static final int SLOTS = RowDescriptor.CHUNKS * RowDescriptor.CHUNK_SLOTS;

    private RowBuckets() {}

    /// The slot of a duration, in ticks.
    public static int index(long ticks) {
        // An int, for C1 divides longs by a call.
        int shift = Long.SIZE - 1 - SUB_BUCKET_HALF_BITS - Long.numberOfLeadingZeros(ticks | SUB_BUCKET_MASK);
        return (int) (ticks >>> shift) + (shift << SUB_BUCKET_HALF_BITS);
    }

    /// The smallest duration of a slot.
    public static long lowest(int index) {
        int shift = shift(index);
        return (index - ((long) shift << SUB_BUCKET_HALF_BITS)) << shift;
    }

    /// The greatest duration of a slot.
    public static long highest(int index) {
        return lowest(index) + (1L << shift(index)) - 1;
    }

    private static int shift(int index) {
        return Math.max(0, (index >> SUB_BUCKET_HALF_BITS) - 1);
    }

    /// Offset in a row of the address of the chunk that a slot is in, 0 there for a chunk without counts.
    public static long chunkAt(int index) {
        return RowDescriptor.CHUNKS_AT + (long) (index / RowDescriptor.CHUNK_SLOTS) * Long.BYTES;
    }

    /// Offset in its chunk of a slot.
    public static long slotAt(int index) {
        return (long) (index % RowDescriptor.CHUNK_SLOTS) * Long.BYTES;
    }
}
