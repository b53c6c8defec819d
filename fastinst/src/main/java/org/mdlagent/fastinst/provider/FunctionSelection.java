package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.function.LongPredicate;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;

/// Which functions are to have probes, as far as that is known before their code is looked at. The others cost nothing,
/// where a probe that nobody asks for can stay as the compiler has left it.
public interface FunctionSelection {
    /// Whether an image, by its path, is to be probed though no compiler has prepared it.
    boolean names(String image);

    /// Those of one image, by their addresses of link time.
    LongPredicate of(LoadedImage image, ElfFile elf) throws IOException;
}
