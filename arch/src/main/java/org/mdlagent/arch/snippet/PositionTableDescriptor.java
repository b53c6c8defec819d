package org.mdlagent.arch.snippet;

/// Offsets in a table that [Expression.Position] looks at: bytes from its start. One writer fills it while threads
/// read:
/// a position is stored before its key.
///
/// ```
/// direct   | lowest number | how many | position of each number, 0: none          |
/// hashed   | multiplier    | mask     | key, position | key, position | ...       |
/// ```
///
/// Hashed, the places of a key begin at the entry `(key * multiplier >>> 32) & mask`, in bytes, and are
/// [#PLACES] side by side.
public final class PositionTableDescriptor {
    public static final int LOWEST = 0;
    public static final int COUNT = 8;

    public static final int MULTIPLIER = 0;
    public static final int MASK = 8;

    public static final int ENTRIES = 16;

    /// Fields of a hashed table's entry.
    public static final int KEY = 0;

    public static final int POSITION = 8;
    public static final int ENTRY_SIZE = 16;

    /// Number of possible places of a key.
    public static final int PLACES = 4;

    private PositionTableDescriptor() {}

    /// Offset from the first entry of the first place of a key.
    public static long firstPlace(long key, long multiplier, long mask) {
        return key * multiplier >>> Integer.SIZE & mask;
    }
}
