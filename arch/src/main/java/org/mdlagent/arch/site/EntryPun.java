package org.mdlagent.arch.site;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The entry of a function without compiler support, whose first instructions a jump can replace.
///
/// @param site the replaced instructions
/// @param rules alternatives for the jump's displacement: one must hold
/// @param cut   where an atomic unit ends within the jump; null if one store can write the whole jump
public record EntryPun(
        SiteInstruction site,
        List<DisplacementRule> rules,
        @Nullable Cut cut) implements EntryPuns.Fit {
    public EntryPun {
        rules = List.copyOf(rules);
    }

    /// The boundary of two atomic units.
    ///
    /// @param front bytes of the jump before the boundary
    /// @param head  offset of the instruction that spans the boundary; [#NO_HEAD] if an instruction begins there
    /// @param traps whether a thread may trap at the site
    public record Cut(int front, int head, boolean traps) {
        /// No instruction spans the boundary.
        public static final int NO_HEAD = 0xFF;

        /// Whether the jump can be installed and removed while threads execute the site, by one store or by steps
        /// in which they trap.
        ///
        /// @param on  the jump
        /// @param off the original bytes
        public boolean isPassable(long on, long off) {
            return traps || (on ^ off) >>> front * Byte.SIZE == 0;
        }
    }

    /// The same for a site that only counts, so nothing of the probe is on the stack.
    public EntryPun counted() {
        return new EntryPun(
                new SiteInstruction(
                        site.address(), site.form(), site.length(), SiteInstruction.Role.COUNT, site.function()),
                rules,
                cut);
    }

    /// Whether the jump may lead anywhere, because it replaces one instruction.
    public boolean leadsAnywhere() {
        for (DisplacementRule rule : rules) {
            if (rule.mask() == 0) {
                return true;
            }
        }
        return false;
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
