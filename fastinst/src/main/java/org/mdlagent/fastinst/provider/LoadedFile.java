package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;

/// The file that an image was loaded from. Another one may have its path by now, with other functions at the same
/// addresses: an update replaces programs that run.
///
/// A file is the image's when it has its program headers and its notes, the build id among them. Where the linker gave
/// none, the kernel tells: it knows the file that is mapped by its name of today.
public final class LoadedFile {
    private static final Path EXECUTABLE = Path.of("/proc/thread-self/exe");
    private static final Path MAPPED = Path.of("/proc/self/map_files");

    private LoadedFile() {}

    /// Opens it.
    ///
    /// @throws IOException when it has been replaced or deleted, and cannot be read any more, or is no ELF file
    public static ElfFile open(LoadedImage image) throws IOException {
        ElfFile named = openIfSame(Path.of(image.path()), image);
        if (named != null) {
            if (named.buildId() != null) {
                return named;
            }
            named.close();
        }
        MemoryMap.Region region = MemoryMap.read().at(image.headers());
        if (region != null) {
            for (Path candidate : candidates(region)) {
                ElfFile file = openIfSame(candidate, image);
                if (file != null) {
                    return file;
                }
            }
        }
        throw new IOException("its file has been replaced or deleted since it was loaded");
    }

    /// What the kernel says of the mapped file. It opens that itself, for the executable always, for others where we
    /// may.
    private static List<Path> candidates(MemoryMap.Region region) {
        List<Path> candidates = new ArrayList<>();
        if (region.path().startsWith("/")) {
            candidates.add(Path.of(region.path())); // with " (deleted)" behind it there is mostly none
        }
        candidates.add(EXECUTABLE);
        candidates.add(MAPPED.resolve(Long.toHexString(region.start()) + "-" + Long.toHexString(region.end())));
        return candidates;
    }

    private static @Nullable ElfFile openIfSame(Path candidate, LoadedImage image) throws IOException {
        ElfFile file;
        try {
            file = ElfFile.open(candidate);
        } catch (IOException e) {
            return null; // the next may be there
        }
        if (isFileOf(file, image)) {
            return file;
        }
        file.close();
        return null;
    }

    private static boolean isFileOf(ElfFile file, LoadedImage image) throws IOException {
        return file.isFileOf(new ElfFile.Image() {
            @Override
            public byte[] programHeaders(int length) {
                return Memory.copy(image.headers(), length);
            }

            @Override
            public byte[] bytes(long address, int length) {
                return Memory.copy(image.bias() + address, length);
            }
        });
    }
}
