package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.function.LongPredicate;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;

/// Which functions are to have probes, as far as that is known before their code is examined. Other functions
/// cost nothing if the compiler's site can stay as it is.
public interface FunctionSelection {
    /// Whether an image, by its path, is to be probed even if no compiler has prepared it.
    boolean names(String image);

    /// The selected functions of one image, by link-time address.
    LongPredicate of(LoadedImage image, ElfFile elf) throws IOException;
}
