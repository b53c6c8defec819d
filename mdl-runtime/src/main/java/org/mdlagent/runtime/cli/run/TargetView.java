package org.mdlagent.runtime.cli.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The installation and a session's directory as the process to attach to sees them.
///
/// A process in a container, or after `chroot`, has both mounted into its file system by `mdl-inject --bind`, which
/// takes them away when the process ends, or when this is closed before [#keep()].
final class TargetView implements AutoCloseable {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss").withZone(ZoneOffset.UTC);

    private final Path installation;
    private final @Nullable Path session;
    private final @Nullable Path recorded;
    private final @Nullable Process mounter;

    private TargetView(Path installation, @Nullable Path session, @Nullable Path recorded, @Nullable Process mounter) {
        this.installation = installation;
        this.session = session;
        this.recorded = recorded;
        this.mounter = mounter;
    }

    /// @param session the directory that the user has given, null for one of the user's sessions
    static TargetView of(TargetProcess target, Installation installation, @Nullable Path session, SessionStore store)
            throws IOException {
        boolean isOwn = target.effectiveUser() == Posix.effectiveUser();
        boolean isElsewhere = target.isElsewhere(installation.library());
        boolean isMounted = isElsewhere && Posix.effectiveUser() == 0;
        if (session != null && (isOwn || !isMounted)) {
            SessionPlace.checkDirectory(session);
        }
        if (!isMounted) {
            return new TargetView(installation.home(), session, session, null);
        }
        Path recorded = session;
        if (recorded == null) {
            Path root = isOwn ? store.root() : Path.of("/tmp/mdl-" + target.effectiveUser());
            recorded = root.resolve(target.fileName() + "-" + target.pid() + "-" + TIME.format(Instant.now()));
            if (isOwn) {
                SessionPlace.checkDirectory(recorded);
            }
        }
        Process mounter = new ProcessBuilder(
                        installation.library().resolveSibling("mdl-inject").toString(),
                        "--bind",
                        Integer.toString(target.pid()),
                        installation.home().toString(),
                        recorded.toString(),
                        Integer.toString(target.effectiveUser()),
                        Integer.toString(target.effectiveGroup()))
                .start();
        BufferedReader output = mounter.inputReader(StandardCharsets.UTF_8);
        String place = output.readLine();
        if (place == null) {
            String why = new String(mounter.getErrorStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            throw target.leftAsItIs(why);
        }
        return new TargetView(Path.of(place, "installation"), Path.of(place, "session"), recorded, mounter);
    }

    /// The agent's library, by its path for the process.
    Path library() {
        return new Installation(installation).library();
    }

    /// The session's directory, by its path for the process; null for the agent's choice.
    @Nullable
    Path session() {
        return session;
    }

    /// The session's directory by its path here.
    @Nullable
    Path recorded() {
        return recorded;
    }

    /// Lets the mounts stay until the process ends.
    void keep() throws IOException {
        if (mounter != null) {
            mounter.getOutputStream().write(1);
        }
    }

    @Override
    public void close() throws IOException {
        if (mounter != null) {
            mounter.getOutputStream().close();
        }
    }
}
