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

/// The file that an image was loaded from. Another file may have its path by now, with other functions at the
/// same addresses: an update replaces running programs.
///
/// A file is the image's if it has its program headers and its notes, including the build id. Without a build
/// id, the kernel decides: it knows the mapped file by its current name.
public final class LoadedFile {
    private static final Path EXECUTABLE = Path.of("/proc/thread-self/exe");
    private static final Path MAPPED = Path.of("/proc/self/map_files");

    private LoadedFile() {}

    /// Opens it.
    ///
    /// @throws IOException when it has been replaced or deleted and can no longer be read, or is not an ELF
    ///     file
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

    /// The kernel's paths of the mapped file. The first works for the executable always, for other images
    /// only with the required privileges.
    private static List<Path> candidates(MemoryMap.Region region) {
        List<Path> candidates = new ArrayList<>();
        if (region.path().startsWith("/")) {
            candidates.add(Path.of(region.path())); // mostly no file if it ends in " (deleted)"
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
            return null; // try the next candidate
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
