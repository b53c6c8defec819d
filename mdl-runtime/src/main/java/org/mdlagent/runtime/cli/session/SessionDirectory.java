package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.runtime.cli.terminal.Posix;

/// A session's directory, opened: what its path leads to may be exchanged at any time, but not this.
public final class SessionDirectory implements AutoCloseable {
    private static final String SOCKET = "control";

    private final OpenFile directory;

    private SessionDirectory(OpenFile directory) {
        this.directory = directory;
    }

    public static SessionDirectory open(Path path) throws IOException {
        return open(OpenFile.bytes(path));
    }

    static SessionDirectory open(byte[] path) throws IOException {
        return new SessionDirectory(OpenFile.directory(path));
    }

    OpenFile directory() {
        return directory;
    }

    /// A session's link to its data.
    ///
    /// @param own whether we have made it: others may put theirs into a directory where everybody may write
    record Link(byte[] target, boolean own) {}

    /// Null when the session's data are here, or nowhere.
    @Nullable
    Link link() throws IOException {
        try (OpenFile entry = directory.entry(SessionFile.NAME)) {
            byte[] target = entry.target();
            return target.length == 0 ? null : new Link(target, entry.isOwn());
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// The control socket, or what else has its name.
    public OpenFile socket() throws IOException {
        return directory.entry(SOCKET);
    }

    /// Removes the control socket that a program which was killed has left. What else has its name is the user's own.
    void removeSocket() throws IOException {
        try (OpenFile entry = socket()) {
            if (entry.isSocket() && entry.isOwn()) {
                directory.remove(SOCKET);
            }
        } catch (NoSuchFileException e) {
            // the program has removed it
        }
    }

    /// Whether data may be moved here. Root leaves other users' directories alone: they could exchange what it puts
    /// there.
    boolean takesData() {
        return directory.isOwn() || Posix.effectiveUser() != 0;
    }

    @Override
    public void close() {
        directory.close();
    }
}
