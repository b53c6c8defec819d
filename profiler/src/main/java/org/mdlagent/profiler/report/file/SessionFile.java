package org.mdlagent.profiler.report.file;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;

/// Opens a session's file, and never one that another user could have led us to.
///
/// Each path component is opened once, without reading or blocking (`O_PATH`), and checked through its
/// descriptor; the next step starts from that descriptor. So the file that was checked is the file that is
/// read, whoever renames things meanwhile.
public final class SessionFile {
    /// Its name in a session's directory.
    public static final String NAME = "session.mdl";

    /// Where sessions' data is kept, by user; in a user namespace, by the user id inside it.
    private static final Pattern MEMORY = Pattern.compile("(/dev/shm/mdl-[0-9]+)/([^/]+)");

    private SessionFile() {}

    /// The regular file, owned by this user, that holds the session of a directory or behind its link.
    ///
    /// @throws SessionFormatException when there is none, or it belongs to another user
    public static OpenFile open(Path directoryOrFile) throws IOException {
        byte[] before = null;
        while (true) {
            OpenFile entry = entry(directoryOrFile);
            if (!entry.isLink()) {
                return checked(entry, directoryOrFile);
            }
            try (entry) {
                checkOwner(entry, directoryOrFile);
                byte[] target = entry.target();
                try {
                    return inMemory(target, directoryOrFile);
                } catch (NoSuchFileException e) {
                    // The program has ended: its data may be moved here at any time.
                    if (Arrays.equals(before, target)) {
                        throw new SessionFormatException(
                                shown(directoryOrFile),
                                "its data were in shared memory, which was cleared (by a restart, for instance)",
                                "run the program again");
                    }
                    before = target;
                }
            }
        }
    }

    /// The session's location for messages; wrong if somebody renames things meanwhile.
    static Path shown(Path directoryOrFile) {
        return Files.isDirectory(directoryOrFile) ? directoryOrFile.resolve(NAME) : directoryOrFile;
    }

    /// The entry with the session's name in a directory, or the session's file or link itself.
    private static OpenFile entry(Path directoryOrFile) throws IOException {
        byte[] path = OpenFile.bytes(directoryOrFile);
        try (OpenFile directory = directory(path)) {
            return directory == null ? OpenFile.place(path) : directory.entry(NAME);
        } catch (NoSuchFileException e) {
            throw new SessionFormatException(
                    shown(directoryOrFile), "there is no session", "mdl list sessions lists them");
        }
    }

    private static @Nullable OpenFile directory(byte[] path) throws IOException {
        try {
            return OpenFile.directory(path);
        } catch (NotDirectoryException | NoSuchFileException e) {
            return null; // a file, or a link whose target is gone
        }
    }

    private static OpenFile inMemory(byte[] target, Path session) throws IOException {
        String text = new String(target, StandardCharsets.ISO_8859_1);
        Matcher parts = MEMORY.matcher(text);
        if (parts.matches()) {
            try (OpenFile memory = OpenFile.place(latin(parts.group(1)))) {
                if (memory.isDirectory() && memory.isOwn() && !memory.isWritableByOthers()) {
                    return checked(memory.entry(latin(parts.group(2))), session);
                }
            }
        }
        throw new SessionFormatException(
                shown(session),
                "it is a link to " + text + ", where no session belongs",
                "give the session file itself");
    }

    private static byte[] latin(String bytes) {
        return bytes.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static OpenFile checked(OpenFile file, Path session) throws SessionFormatException {
        try {
            checkOwner(file, session);
            if (!file.isRegular()) {
                throw new SessionFormatException(
                        shown(session), "it is not a regular file", "give a session's directory");
            }
            return file;
        } catch (SessionFormatException e) {
            file.close();
            throw e;
        }
    }

    private static void checkOwner(OpenFile file, Path session) throws SessionFormatException {
        if (!file.isOwn()) {
            throw new SessionFormatException(
                    shown(session),
                    "it belongs to another user (uid " + file.owner() + ")",
                    "read it as that user: sudo -u '#" + file.owner() + "' mdl ...");
        }
    }
}
