package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The opened directory of a session: its path may lead elsewhere at any time, its descriptor may not.
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
    /// @param own whether we own it: in a directory writable by everybody, others may create links
    record Link(byte[] target, boolean own) {}

    /// Null if the session's data are here, or do not exist.
    @Nullable
    Link link() throws IOException {
        try (OpenFile entry = directory.entry(SessionFile.NAME)) {
            byte[] target = entry.target();
            return target.length == 0 ? null : new Link(target, entry.isOwn());
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// The control socket, or another file of its name.
    public OpenFile socket() throws IOException {
        return directory.entry(SOCKET);
    }

    /// Removes the control socket left by a killed program. Another file of that name is the user's own.
    void removeSocket() throws IOException {
        try (OpenFile entry = socket()) {
            if (entry.isSocket() && entry.isOwn()) {
                directory.remove(SOCKET);
            }
        } catch (NoSuchFileException e) {
            // the program has removed it
        }
    }

    /// Whether data may be moved here. Root leaves other users' directories alone: the users could replace
    /// what it puts there.
    boolean takesData() {
        return directory.isOwn() || Posix.effectiveUser() != 0;
    }

    @Override
    public void close() {
        directory.close();
    }
}
