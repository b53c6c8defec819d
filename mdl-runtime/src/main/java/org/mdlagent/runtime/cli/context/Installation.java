package org.mdlagent.runtime.cli.context;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.terminal.Posix;

/// Where this program is installed: a directory with `lib/libmdlagent.so` and `runtime/`.
public record Installation(Path home) {
    /// The property that names the directory when this is not run from its own image.
    private static final String HOME_PROPERTY = "mdl.home";

    /// Separates names in `LD_PRELOAD`.
    private static final Pattern SEPARATOR = Pattern.compile("[ :]");

    public static Installation ofProcess() {
        String given = System.getProperty(HOME_PROPERTY);
        Path java = Path.of(System.getProperty("java.home"));
        Path parent = java.getParent();
        return new Installation(given != null ? Path.of(given).toAbsolutePath() : parent == null ? java : parent);
    }

    public Path library() {
        return home.resolve("lib/libmdlagent.so");
    }

    /// The library with which `mdl report` demangles C++ names.
    public Path demangler() {
        return home.resolve("lib/libmdldemangle.so");
    }

    public Path runtime() {
        return home.resolve("runtime");
    }

    /// The library, null if it is missing.
    public @Nullable Path existingLibrary() {
        return Files.isReadable(library()) ? library() : null;
    }

    /// This installation by a path that `LD_PRELOAD` can hold: its own path, or that of a link that only this
    /// user can have created.
    public Installation preloadable() throws IOException {
        if (!SEPARATOR.matcher(home.toString()).find()) {
            return this;
        }
        Path directory = privateDirectory(Path.of("/tmp/mdl-" + Posix.effectiveUser()));
        byte[] name = home.toString().getBytes(StandardCharsets.UTF_8);
        Path link = directory.resolve("installation-" + UUID.nameUUIDFromBytes(name));
        try {
            Files.createSymbolicLink(link, home);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isSymbolicLink(link) || !Files.readSymbolicLink(link).equals(home)) {
                throw new IOException(link + " is in the way", e);
            }
        }
        return new Installation(link);
    }

    /// The user's own directory, in a place where others may have created something of that name before.
    private static Path privateDirectory(Path directory) throws IOException {
        try {
            Files.createDirectory(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            // its owner is checked below
        }
        PosixFileAttributes found =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        boolean ours = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                .equals(Posix.effectiveUser());
        if (!found.isDirectory()
                || !ours
                || !PosixFilePermissions.toString(found.permissions()).endsWith("------")) {
            throw new IOException(directory + " is not this user's alone");
        }
        return directory;
    }
}
