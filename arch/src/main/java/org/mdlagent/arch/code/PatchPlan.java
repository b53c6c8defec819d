package org.mdlagent.arch.code;

/// The stores that make a site toggle by a single store. Each is within one atomic unit, except `tail`.
///
/// First the site is neutralised, so that no thread executes bytes of the tail as an instruction with an effect.
/// Once all cores have serialised, the tail is written. Once they have serialised again, the toggle words may be
/// stored at any time.
///
/// If no store within one unit neutralises the site, it must be [#rewritten] before, by a protocol for straddling
/// instructions.
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

    /// A plan for a site that one store neutralises.
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

    /// A plan for a site that is off already and has no tail.
    public static PatchPlan asItIs(long address, int length, int toggleSize, long on, long off) {
        return new PatchPlan(address, length, address, 0, 0, address, NOTHING, address, toggleSize, on, off);
    }

    /// Whether the site can be toggled without preparation.
    public boolean isMade() {
        return neutralSize == 0;
    }
}
