package org.mdlagent.arch.layout;

/// The slot of a duration in a row's histogram: the index of HdrHistogram's counts array for two significant
/// digits. Each duration up to 255 ticks has its own slot; above that each power of two has 128 slots.
///
///     shift = floor(log2(ticks | 255)) - 7
///     index = (ticks >>> shift) + 128 * shift
///
/// The shim and generated code compute the same (`record`, `RecordingAssembler`, `WholeCallAssembler`); a test
/// compares them.
public final class RowBuckets {
    /// `ticks | SUB_BUCKET_MASK` makes the arithmetic correct for small durations too.
    public static final int SUB_BUCKET_MASK = 255;

    public static final int SUB_BUCKET_HALF_BITS = 7;

    /// Slots of a row: for durations below `2^54`.
    public static final int SLOTS = RowDescriptor.CHUNKS * RowDescriptor.CHUNK_SLOTS;

    private RowBuckets() {}

    /// The slot of a duration, in ticks.
    public static int index(long ticks) {
        // An int, because C1 divides longs by a call.
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

    /// Offset in a row of the address of a slot's chunk; the address is 0 for a chunk without counts.
    public static long chunkAt(int index) {
        return RowDescriptor.CHUNKS_AT + (long) (index / RowDescriptor.CHUNK_SLOTS) * Long.BYTES;
    }

    /// Offset in its chunk of a slot.
    public static long slotAt(int index) {
        return (long) (index % RowDescriptor.CHUNK_SLOTS) * Long.BYTES;
    }
}
