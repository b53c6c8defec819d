package org.mdlagent.arch.elf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds the separate debug file of a stripped image where debuggers look for it (GDB manual, "Debugging
/// Information in Separate Files"): by build id below `/usr/lib/debug`, and by the name in `.gnu_debuglink` beside
/// the image, in `.debug` there, and below `/usr/lib/debug`.
///
/// Files with another build id, and unreadable files, are skipped. An image without a build id has no debug file.
public final class DebugFile {
    private static final Path DIRECTORY = Path.of("/usr/lib/debug");
    private static final String LINK = ".gnu_debuglink";

    private DebugFile() {}

    static @Nullable ElfFile of(ElfFile image) throws ElfFormatException {
        String id = image.buildId();
        if (id == null || id.length() < 3) {
            return null;
        }
        for (Path candidate : candidates(image, id)) {
            ElfFile file = open(candidate, id);
            if (file != null) {
                return file;
            }
        }
        return null;
    }

    /// The debug file below `/usr/lib/debug` of a build whose image may be gone, or null.
    ///
    /// @param id in lower-case hexadecimal
    public static @Nullable ElfFile of(String id) {
        return id.length() < 3 ? null : open(byBuild(id), id);
    }

    private static Path byBuild(String id) {
        return DIRECTORY
                .resolve(".build-id")
                .resolve(id.substring(0, 2))
                .resolve(id.substring(2).concat(".debug"));
    }

    private static List<Path> candidates(ElfFile image, String id) throws ElfFormatException {
        List<Path> candidates = new ArrayList<>(4);
        candidates.add(byBuild(id));
        String name = linked(image);
        Path directory = directory(image);
        if (name != null && directory != null) {
            candidates.add(directory.resolve(name));
            candidates.add(directory.resolve(".debug").resolve(name));
            candidates.add(
                    DIRECTORY.resolve(directory.getRoot().relativize(directory)).resolve(name));
        }
        return candidates;
    }

    private static @Nullable String linked(ElfFile image) throws ElfFormatException {
        Section link = image.section(LINK);
        if (link == null || link.type() == Section.NO_BITS) {
            return null;
        }
        String name = image.contents(link).stringAt(0);
        return name.isEmpty() || name.indexOf('/') >= 0 ? null : name;
    }

    /// The path of the image, which may have been opened by a /proc link.
    private static @Nullable Path directory(ElfFile image) {
        try {
            return Path.of(image.name()).toRealPath().getParent();
        } catch (IOException e) {
            return null;
        }
    }

    /// The file, if it is of this build; otherwise null.
    public static @Nullable ElfFile open(Path candidate, String id) {
        if (!Files.isRegularFile(candidate)) {
            return null;
        }
        ElfFile file = null;
        boolean found = false;
        try {
            file = ElfFile.open(candidate);
            found = id.equals(file.buildId());
            return found ? file : null;
        } catch (IOException e) {
            return null;
        } finally {
            if (file != null && !found) {
                close(file);
            }
        }
    }

    private static void close(ElfFile file) {
        try {
            file.close();
        } catch (IOException e) {
            // Opened for reading only, so a failed close loses nothing.
        }
    }
}
