package org.mdlagent.arch.site;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The entry of a function without compiler support, whose first instructions a jump can replace.
///
/// @param site those instructions
/// @param rules of the displacements that the jump may have: any of them will do
/// @param cut   where an atomic unit ends within the jump; null where it lies in one, so that one store puts it there
public record EntryPun(
        SiteInstruction site,
        List<DisplacementRule> rules,
        @Nullable Cut cut) implements EntryPuns.Fit {
    public EntryPun {
        rules = List.copyOf(rules);
    }

    /// The boundary of two atomic units.
    ///
    /// @param front bytes of the jump that lie before it
    /// @param head  offset of the instruction that lies on both sides of it; [#NO_HEAD] when one begins there
    /// @param traps whether a thread may trap at the site
    public record Cut(int front, int head, boolean traps) {
        /// No instruction lies on both sides.
        public static final int NO_HEAD = 0xFF;

        /// Whether the jump can come and go while threads execute the site, by one store or by steps in which they
        /// trap.
        ///
        /// @param on  the jump
        /// @param off what stands there without it
        public boolean isPassable(long on, long off) {
            return traps || (on ^ off) >>> front * Byte.SIZE == 0;
        }
    }

    /// The same, and calls are counted only: nothing stands on the stack that the function could see.
    public EntryPun counted() {
        return new EntryPun(
                new SiteInstruction(
                        site.address(), site.form(), site.length(), SiteInstruction.Role.COUNT, site.function()),
                rules,
                cut);
    }

    /// Whether the jump may lead anywhere, because it replaces one instruction.
    public boolean leadsAnywhere() {
        return rules.contains(DisplacementRule.ANY);
    }

    /// The same in an image that is loaded `bias` bytes higher.
    public EntryPun at(long bias) {
        return new EntryPun(
                new SiteInstruction(
                        site.address() + bias, site.form(), site.length(), site.role(), site.function() + bias),
                rules,
                cut);
    }
}
