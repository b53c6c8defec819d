package org.mdlagent.arch.elf;

import java.util.List;

/// Which exceptions the code of a range handles: its language-specific data, as GCC's and LLVM's
/// personality routines read
/// them. Addresses are those in the file.
///
/// @param personality  address of the routine
/// @param isIndirect   whether it is the address of a word that holds the routine's address
/// @param sites        in ascending order; other calls must not throw
/// @param actions      records that sites refer to
/// @param types        address behind the table of types, which grows downwards
/// @param typeEncoding of its entries
/// @param typeCount    entries that actions refer to
public record ExceptionData(
        long personality,
        boolean isIndirect,
        List<Site> sites,
        byte[] actions,
        long types,
        int typeEncoding,
        int typeCount) {
    /// @param pad    address of the landing pad, 0 for none
    /// @param action one more than the offset of the action, 0 for none
    public record Site(long start, long length, long pad, long action) {}

    public ExceptionData {
        sites = List.copyOf(sites);
    }
}
