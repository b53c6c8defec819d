package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;

/// Where a program's session is to be, looked at before it starts.
final class SessionPlace {
    /// Of `st_mode` (inode(7)).
    private static final int FILE_TYPE = 0170000;

    private static final int SOCKET_TYPE = 0140000;

    private SessionPlace() {}

    /// Says so when the sessions of a user cannot be where they are always: the agent goes elsewhere.
    static void checkRoot(SessionStore store, Console console) {
        try {
            createPrivate(store.root());
        } catch (IOException e) {
            console.say(
                    "sessions cannot be written to " + store.root() + " (" + e.getMessage() + "); trying /tmp",
                    "-o DIR chooses another place");
        }
    }

    /// @throws CommandFailure when there cannot be a session
    static void checkDirectory(Path directory) {
        if (SessionStore.holdsSession(directory)) {
            throw CommandFailure.failed(
                    directory + " holds a session already", "choose another directory, or remove that one");
        }
        Path control = directory.resolve("control");
        if (Files.exists(control, LinkOption.NOFOLLOW_LINKS) && !isSocket(control)) {
            throw CommandFailure.failed(
                    control + " is in the way: the session's control socket goes there",
                    "choose another directory with -o DIR");
        }
        try {
            createPrivate(directory);
        } catch (IOException e) {
            throw CommandFailure.failed(
                    "the session cannot be written to " + directory + ": " + e.getMessage(),
                    "choose another directory with -o DIR");
        }
    }

    private static boolean isSocket(Path file) {
        try {
            int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return (mode & FILE_TYPE) == SOCKET_TYPE;
        } catch (IOException e) {
            return false;
        }
    }

    private static void createPrivate(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        if (!Files.isWritable(directory)) {
            throw new IOException("no permission to write");
        }
    }
}
