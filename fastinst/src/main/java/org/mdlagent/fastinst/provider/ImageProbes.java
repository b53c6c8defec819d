package org.mdlagent.fastinst.provider;

import java.util.List;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;

/// The probe sites of one image.
///
/// @param image that contains them
/// @param elf   its file
/// @param texts in ascending order of address, each with at least one site
public record ImageProbes(LoadedImage image, ElfFile elf, List<Text> texts) {
    /// An executable segment with sites.
    ///
    /// @param start first address in memory
    /// @param end   one past the last address
    /// @param sites in ascending order of address
    public record Text(long start, long end, List<ProbeSite> sites) {}
}
