package org.mdlagent.arch.site;

import java.util.List;

/// The entry of a function without compiler support, whose first instructions a jump can replace.
///
/// @param site those instructions
/// @param rules     rules of the jump's displacement, of which one must hold
/// @param inOneUnit whether one store makes the jump. Otherwise the jump is made before any thread executes the
///     text, permanently, and its target is switched
public record EntryPun(SiteInstruction site, List<DisplacementRule> rules, boolean inOneUnit) implements EntryPuns.Fit {
    public EntryPun {
        rules = List.copyOf(rules);
    }

    /// The same for calls that are only counted: nothing is on the stack that the function could see.
    public EntryPun counted() {
        return new EntryPun(
                new SiteInstruction(
                        site.address(), site.form(), site.length(), SiteInstruction.Role.COUNT, site.function()),
                rules,
                inOneUnit);
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
                inOneUnit);
    }
}
