package org.mdlagent.arch.site;

/// The entry of a function that no compiler has prepared, where a jump can take the place of the first instructions.
///
/// @param site those instructions
/// @param rule the displacements that the jump may have
public record EntryPun(SiteInstruction site, DisplacementRule rule) implements EntryPuns.Fit {
    /// The same in an image that is loaded `bias` bytes further.
    public EntryPun at(long bias) {
        return new EntryPun(
                new SiteInstruction(
                        site.address() + bias, site.form(), site.length(), site.role(), site.function() + bias),
                rule);
    }
}
