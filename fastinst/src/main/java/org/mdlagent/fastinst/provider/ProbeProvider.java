package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;

/// Finds the probe sites of one kind in an image.
public interface ProbeProvider {
    /// The probes of `image`, or null if it has none of this kind; without texts if all are left out.
    ///
    /// @param elf   the file that the image was loaded from
    /// @param arguments tells which functions can have probes of whole calls
    /// @param notes receives what was found but left alone, a sentence each, with the reason
    /// @throws IOException when the file is damaged
    @Nullable
    ImageProbes discover(LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes)
            throws IOException;
}
