package org.mdlagent.client;

import java.util.OptionalLong;

/// A way of control from a basic block to a basic block, or from or to the outside of the function.
///
/// @param function demangled name
/// @param image    path of the ELF file
/// @param kind     by what control goes: `next` (a branch that is not taken, or no branch), `jump`, `computed`, `call`,
///     `return` (from a call), `entry`, `leave`, `handler` (of an exception) or `unforeseen`
/// @param from     address in the file of the block's last instruction; empty if control comes from outside
/// @param to       address in the file of the block; empty if control leaves the function
/// @param count    how often control took it, exact
public record Arc(String function, String image, String kind, OptionalLong from, OptionalLong to, long count) {
    @Override
    public String toString() {
        return "%12d  %-8s %s -> %s  %s".formatted(count, kind, place(from), place(to), function);
    }

    private static String place(OptionalLong address) {
        return address.isEmpty() ? "outside" : "0x" + Long.toHexString(address.getAsLong());
    }
}
