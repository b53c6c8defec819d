package org.mdlagent.profiler.report.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Where a session's file is.
public final class SessionFile {
    /// Its name in a session's directory.
    public static final String NAME = "session.mdl";

    private SessionFile() {}

    /// The regular file that holds the session of a directory or behind its link: never one to which somebody else
    /// could have led us.
    ///
    /// @throws SessionFormatException when there is none, or it belongs to somebody else
    public static Path locate(Path directoryOrFile) throws IOException {
        Path file = Files.isDirectory(directoryOrFile) ? directoryOrFile.resolve(NAME) : directoryOrFile;
        try {
            int owner = owner(file);
            int self = owner(Path.of("/proc/self"));
            if (owner != self && self != 0) {
                throw new SessionFormatException(
                        file, "it belongs to another user (uid " + owner + ")", "read it as that user, or as root");
            }
            if (Files.isSymbolicLink(file)) {
                Path memory = Path.of("/dev/shm/mdl-" + owner);
                Path target = Files.readSymbolicLink(file);
                if (!memory.equals(target.getParent())
                        || !target.normalize().equals(target)
                        || !Files.isDirectory(memory, LinkOption.NOFOLLOW_LINKS)
                        || owner(memory) != owner) {
                    throw new SessionFormatException(
                            file,
                            "it is a link to " + target + ", where no session belongs",
                            "give the session file itself");
                }
                if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                    throw new SessionFormatException(
                            file,
                            "its data were in shared memory, which was cleared (by a restart, for instance)",
                            "run the program again");
                }
                if (owner(target) != owner) {
                    throw new SessionFormatException(
                            target, "it belongs to another user (uid " + owner(target) + ")", "remove it");
                }
                file = target;
            }
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new SessionFormatException(file, "it is not a regular file", "give a session's directory");
            }
            return file;
        } catch (NoSuchFileException e) {
            throw new SessionFormatException(file, "there is no session", "mdl list sessions shows those there are");
        }
    }

    private static int owner(Path path) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }
}
