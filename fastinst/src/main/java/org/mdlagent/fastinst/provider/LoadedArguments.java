package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.StackUse;

/// [StackArguments] of loaded images: functions may make sibling calls to any of them, except the vDSO, which
/// has no file. Functions that the shim interposes have the parameters of the originals.
public final class LoadedArguments {
    private LoadedArguments() {}

    static StackArguments proof(NativeApi api, CodeSearch search) {
        return new StackArguments(search, api::decode, api::demangle, known -> open(api, known));
    }

    private static @Nullable List<ElfFile> open(NativeApi api, List<ElfFile> known) throws IOException {
        List<ElfFile> opened = new ArrayList<>();
        try {
            for (LoadedImage image : new LoadedImages(api).read(MemoryMap.read())) {
                if (known.stream().noneMatch(elf -> elf.name().equals(image.path()))) {
                    opened.add(LoadedFile.open(image));
                }
            }
            return opened;
        } catch (IOException e) {
            for (ElfFile elf : opened) {
                elf.close();
            }
            return null;
        }
    }

    /// Why words on the stack may harm a function, given by its address, or a function that it leaves to;
    /// null if they do not.
    ///
    /// @throws IOException when its file cannot be read
    public static StackUse.@Nullable Reason reason(NativeApi api, CodeSearch search, LoadedImage image, long function)
            throws IOException {
        try (ElfFile elf = LoadedFile.open(image);
                StackArguments proof = proof(api, search)) {
            return proof.add(elf).reason(function - image.bias());
        }
    }
}
