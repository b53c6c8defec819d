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

/// [StackArguments] of images in memory: functions may leave to any of them, but for the vDSO, which has no file. The
/// shim's functions have the parameters of those that they stand in front of.
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

    /// Why words on the stack may do harm to a function at an address in an image, or to those that it leaves to; null
    /// when they do none.
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
