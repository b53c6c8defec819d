package org.mdlagent.arch.code;

/// The stores that turn a site into one that a single store toggles, all within one atomic unit each except `tail`.
///
/// The site is first neutralised, so that no thread executes the bytes of the tail as an instruction with an effect;
/// then, when all cores have serialised, the tail is written; when they have serialised again, the toggle words may
/// be stored at will.
///
/// Where no store within one unit neutralises it, the site must have been made [#rewritten] before, by a protocol for
/// instructions that straddle.
///
/// @param address     of the instruction
/// @param length      of the instruction in bytes
/// @param neutralAt   address of the neutralising store
/// @param neutralSize its size: 1, 2 or 4; 0 when there is none ([#isMade])
/// @param neutral     its value
/// @param tailAt      address of the first tail byte
/// @param tail        bytes that are the same whether the site is on or off
/// @param toggleAt    address of the toggling store
/// @param toggleSize  its size: 1, 2 or 4; 5 for an entry that no compiler has prepared
/// @param on          the value that leads to the trampoline
/// @param off         the value that does nothing
/// @param rewritten   all bytes of the site in the state that does nothing, at most eight; empty where the neutralising
///     store is enough
public record PatchPlan(
        long address,
        int length,
        long neutralAt,
        int neutralSize,
        int neutral,
        long tailAt,
        byte[] tail,
        long toggleAt,
        int toggleSize,
        long on,
        long off,
        byte[] rewritten) {
    private static final byte[] NOTHING = {};

    /// A site that one store neutralises.
    public PatchPlan(
            long address,
            int length,
            long neutralAt,
            int neutralSize,
            int neutral,
            long tailAt,
            byte[] tail,
            long toggleAt,
            int toggleSize,
            long on,
            long off) {
        this(address, length, neutralAt, neutralSize, neutral, tailAt, tail, toggleAt, toggleSize, on, off, NOTHING);
    }

    /// A site that is off as it stands, and has nothing that is the same in both states.
    public static PatchPlan asItIs(long address, int length, int toggleSize, long on, long off) {
        return new PatchPlan(address, length, address, 0, 0, address, NOTHING, address, toggleSize, on, off);
    }

    /// Whether nothing need be stored before the site can be toggled.
    public boolean isMade() {
        return neutralSize == 0;
    }
}
