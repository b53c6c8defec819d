package org.mdlagent.arch.site;

import java.util.List;

/// The entry of a function that no compiler has prepared, where a jump can take the place of the first instructions.
///
/// @param site those instructions
/// @param rules     of the displacements that the jump may have: any of them will do
/// @param inOneUnit whether one store puts the jump there. Else it is there before anybody executes the text, for
///     good, and what it leads to is switched
public record EntryPun(SiteInstruction site, List<DisplacementRule> rules, boolean inOneUnit) implements EntryPuns.Fit {
    public EntryPun {
        rules = List.copyOf(rules);
    }

    /// The same, and calls are counted only: nothing stands on the stack that the function could see.
    public EntryPun counted() {
        return new EntryPun(
                new SiteInstruction(
                        site.address(), site.form(), site.length(), SiteInstruction.Role.COUNT, site.function()),
                rules,
                inOneUnit);
    }

    /// Whether the jump may lead anywhere: it takes the place of one instruction.
    public boolean leadsAnywhere() {
        return rules.contains(DisplacementRule.ANY);
    }

    /// The same in an image that is loaded `bias` bytes further.
    public EntryPun at(long bias) {
        return new EntryPun(
                new SiteInstruction(
                        site.address() + bias, site.form(), site.length(), site.role(), site.function() + bias),
                rules,
                inOneUnit);
    }
}
