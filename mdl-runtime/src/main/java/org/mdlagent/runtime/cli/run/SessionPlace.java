package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.runtime.cli.session.SessionDirectory;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptionsText;

/// The place for a program's session, checked before it starts.
final class SessionPlace {
    private SessionPlace() {}

    /// Reports when a user's sessions cannot be in their usual place: the agent uses another one.
    static void checkRoot(SessionStore store, Console console) {
        try {
            createPrivate(store.root());
        } catch (IOException e) {
            console.say(
                    "sessions cannot be written to " + store.root() + " (" + e.getMessage() + "); trying /tmp",
                    "-o DIR chooses another place");
        }
    }

    /// @throws CommandFailure when there can be no session
    static void checkDirectory(Path directory) {
        if (SessionStore.holdsSession(directory)) {
            throw CommandFailure.failed(
                    directory + " holds a session already", "choose another directory, or remove that one");
        }
        try {
            createPrivate(directory);
            checkSocket(directory);
        } catch (IOException e) {
            throw CommandFailure.failed(
                    "the session cannot be written to " + directory + ": " + e.getMessage(),
                    "choose another directory with -o DIR");
        }
    }

    /// The agent's option for a session in a directory.
    static AgentOptionsText option(Path directory) {
        AgentOptionsText text = new AgentOptionsText();
        String path = directory.toString();
        // Leading and trailing blanks are stripped from values, so a path that ends in one gets a slash.
        text.add(AgentOption.SESSION, path.equals(path.strip()) ? path : path + "/");
        return text;
    }

    private static void checkSocket(Path session) throws IOException {
        try (SessionDirectory directory = SessionDirectory.open(session);
                OpenFile socket = directory.socket()) {
            if (!socket.isSocket()) {
                throw CommandFailure.failed(
                        socket.name() + " is in the way: the session's control socket goes there",
                        "choose another directory with -o DIR");
            }
        } catch (NoSuchFileException e) {
            // nothing is in the way
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
