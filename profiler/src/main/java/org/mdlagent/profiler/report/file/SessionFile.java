package org.mdlagent.profiler.report.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where a session's file is.
public final class SessionFile {
    /// Its name in a session's directory.
    public static final String NAME = "session.mdl";

    private static final int FILE_TYPE = 0170000;
    private static final int REGULAR_TYPE = 0100000;
    private static final int SELF = self();

    /// Where programs have their sessions' data, by their user; in a user namespace, the one that it is there.
    private static final Pattern MEMORY = Pattern.compile("/dev/shm/mdl-[0-9]+");

    private SessionFile() {}

    /// The regular file that holds the session of a directory or behind its link: never one to which somebody else
    /// could have led us. When the program has ended it may be moved at any time: who does not find it where this
    /// says asks again.
    ///
    /// @throws SessionFormatException when there is none, or it belongs to somebody else
    public static Path locate(Path directoryOrFile) throws IOException {
        Path file = Files.isDirectory(directoryOrFile) ? directoryOrFile.resolve(NAME) : directoryOrFile;
        Path target = target(file);
        while (true) {
            try {
                return checked(file, target);
            } catch (NoSuchFileException e) {
                Path before = target;
                target = target(file);
                if (Objects.equals(before, target)) {
                    throw missing(file, target);
                }
            }
        }
    }

    private static Path checked(Path file, @Nullable Path target) throws IOException {
        int owner = owner(file);
        if (owner != SELF) {
            throw new SessionFormatException(
                    file,
                    "it belongs to another user (uid " + owner + ")",
                    "read it as that user: sudo -u '#" + owner + "' mdl ...");
        }
        if (target != null) {
            Path memory = target.getParent();
            if (memory == null
                    || !MEMORY.matcher(memory.toString()).matches()
                    || !target.normalize().equals(target)
                    || owner(memory) != owner
                    || !Files.isDirectory(memory, LinkOption.NOFOLLOW_LINKS)) {
                throw new SessionFormatException(
                        file,
                        "it is a link to " + target + ", where no session belongs",
                        "give the session file itself");
            }
            if (owner(target) != owner) {
                throw new SessionFormatException(
                        target, "it belongs to another user (uid " + owner(target) + ")", "remove it");
            }
        }
        Path found = target == null ? file : target;
        if (((Integer) attribute(found, "unix:mode") & FILE_TYPE) != REGULAR_TYPE) {
            throw new SessionFormatException(found, "it is not a regular file", "give a session's directory");
        }
        return found;
    }

    private static SessionFormatException missing(Path file, @Nullable Path target) {
        return target == null
                ? new SessionFormatException(file, "there is no session", "mdl list sessions shows those there are")
                : new SessionFormatException(
                        file,
                        "its data were in shared memory, which was cleared (by a restart, for instance)",
                        "run the program again");
    }

    /// Where a link leads, null when it is none.
    public static @Nullable Path target(Path link) throws IOException {
        try {
            return Files.readSymbolicLink(link);
        } catch (NotLinkException | NoSuchFileException e) {
            return null;
        }
    }

    private static int owner(Path path) throws IOException {
        return (Integer) attribute(path, "unix:uid");
    }

    private static Object attribute(Path path, String name) throws IOException {
        return Files.getAttribute(path, name, LinkOption.NOFOLLOW_LINKS);
    }

    /// The effective user of this process. Not the owner of its directory in `/proc`: that is root when it must not be
    /// debugged, and that of the link `self` always is.
    private static int self() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith("Uid:"))
                    .mapToInt(line -> (int) Long.parseLong(line.split("\\s+")[2]))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
