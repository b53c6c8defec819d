package org.mdlagent.fastinst.snippet;

import java.io.IOException;
import java.util.List;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.provider.EntrySites;
import org.mdlagent.fastinst.provider.LoadedFile;

/// Functions that snippets may call: those of the images that were there when the program started, whose code
/// is permanent.
public final class CallableFunctions {
    private final NativeApi api;
    private List<LoadedImage> images = List.of();

    public CallableFunctions(NativeApi api) {
        this.api = api;
    }

    /// Sets the images that were there when the program started, its own first.
    public void first(List<LoadedImage> first) {
        images = List.copyOf(first);
    }

    /// Address of a function: one of the program's own, exported or not, else one exported by its libraries.
    ///
    /// @param symbol mangled, if the name is
    /// @return 0 when there is none, or it must return directly to its caller's address, like `setjmp`
    /// @throws IOException when the files of the images cannot be read
    public long find(String symbol) throws IOException {
        if (images.isEmpty() || EntrySites.EXCLUDED.contains(symbol)) {
            return 0;
        }
        LoadedImage program = images.getFirst();
        try (ElfFile elf = LoadedFile.open(program)) {
            long own = elf.symbols().function(symbol);
            if (own != 0) {
                return own + program.bias();
            }
        }
        long exported = api.findSymbol(symbol, "");
        return exported != 0 && stays(exported) ? exported : 0;
    }

    /// Whether an address is in permanent code. Functions that the shim interposes are permanent as well.
    private boolean stays(long address) throws IOException {
        for (LoadedImage image : images) {
            try (ElfFile elf = LoadedFile.open(image)) {
                for (Segment segment : elf.executableSegments()) {
                    long from = address - image.bias() - segment.address();
                    if (from >= 0 && from < segment.memorySize()) {
                        return true;
                    }
                }
            }
        }
        MemoryMap.Region region = MemoryMap.read().at(address);
        return region != null && region.path().equals(api.libraryDirectory() + "/libmdlagent.so");
    }
}
