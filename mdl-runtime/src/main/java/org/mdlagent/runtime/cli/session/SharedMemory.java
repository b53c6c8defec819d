package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.file.OwnDirectory;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The directory in shared memory with the data of sessions while their programs run. Afterwards the data are
/// moved to the sessions' own directories.
///
/// Assumes    A1 a process that records into a file has it mapped, or open, from before it writes its owner into it;
///               a process maps it later only by being forked from one that has it mapped
///            A2 only the user changes the directory in shared memory; anybody may change, at any time, where the
///               paths of sessions lead
/// Guarantees G1 data are touched only when no process can write to them any more, in any container
///            G2 of several processes that move the same data at once, one succeeds
///            G3 a reader that opens the session's file finds the data in one place or, on retry, in the other
///            G4 nothing outside the session's directory and shared memory is changed, and root changes nothing in
///               another user's directory
/// Progress   P1 data that cannot be moved, for lack of room or rights, stay and can be read where they are
///
///   mover                                     writer of how a program ended
///   1 lock the data, or leave them            1 open the data where they are
///   2 nobody has moved them before            2 lock them: waits for a mover
///   3 nobody writes to them (a lease)         3 if they were moved meanwhile: again from 1
///   4 copy to a file beside the link,         4 write, unlock
///     empty pages left out
///   5 rename it over the link
///   6 remove the original, unlock
public final class SharedMemory {
    /// This user's sessions.
    static final Path DIRECTORY = Path.of("/dev/shm/mdl-" + Posix.effectiveUser());

    /// Files recorded by processes that have given up privileges.
    private static final String CONFINED = "*.apart";

    private static final String DATA_SUFFIX = ".mdl";
    private static final String COPY = SessionFile.NAME + ".copy";
    private static final int COPY_BYTES = 1 << 16;

    /// Maximum time from creating a file to having it open.
    private static final Duration CREATION_MAX = Duration.ofMinutes(1);

    /// Data whose session may be in a container that shares this memory are kept for that long.
    private static final Duration ELSEWHERE_MAX = Duration.ofDays(1);

    private final Path directory;
    private final FileView own;

    SharedMemory(Path directory) {
        this.directory = directory;
        own = FileView.ofThisProcess();
    }

    /// Moves the data of a session into its directory, once no process writes to them any more.
    void settle(Path session) throws IOException {
        try (SessionDirectory opened = SessionDirectory.open(session)) {
            SessionDirectory.Link link = opened.link();
            if (link != null && leadsHere(link) && opened.takesData()) {
                settle(link.target(), opened);
            }
        } catch (NoSuchFileException | NotDirectoryException | AccessDeniedException e) {
            // not a session, as its reader will report; or moved meanwhile, or not permitted
        }
    }

    private static void settle(byte[] file, SessionDirectory session) throws IOException {
        try (OpenFile data = OpenFile.readable(file)) {
            if (isLeft(data, file)) {
                move(data, file, session);
            }
        }
    }

    /// Whether no process writes to a file of ours any more: steps 1 to 3. It is then locked until it is
    /// closed.
    private static boolean isLeft(OpenFile data, byte[] path) throws IOException {
        return data.isRegular() && data.isOwn() && data.tryLock() && data.isAt(path) && !data.isWritten();
    }

    private static void move(OpenFile data, byte[] path, SessionDirectory session) throws IOException {
        OpenFile directory = session.directory();
        // A killed mover may have left its copy.
        directory.remove(COPY);
        try (OpenFile copy = directory.create(COPY)) {
            copy(data, copy);
            directory.rename(COPY, SessionFile.NAME);
        } catch (IOException e) {
            directory.remove(COPY);
            throw e;
        }
        session.removeSocket();
        OpenFile.remove(path);
    }

    /// Frees the memory of ended programs: moves their data into their sessions' directories, and removes
    /// data without a session or reader. A session that is not found may be where this process cannot see it: in a
    /// container, or below another root directory, with the same shared memory. Its data stay for a day.
    ///
    /// @param sessions lists the known sessions, to find one that was moved
    void reclaim(SessionList sessions) throws IOException {
        if (!isOwnDirectory()) {
            return;
        }
        forEach("*" + DATA_SUFFIX, file -> reclaim(file, sessions));
        forEach(CONFINED, SharedMemory::removeConfined);
    }

    private interface Action {
        void on(Path file) throws IOException;
    }

    private void forEach(String glob, Action action) throws IOException {
        IOException failure = null;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, glob)) {
            for (Path file : files) {
                try {
                    action.on(file);
                } catch (NoSuchFileException | AccessDeniedException e) {
                    // another mdl was faster, or its directory is not accessible
                } catch (IOException e) {
                    failure = e;
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /// The agent reads such a file for the last time after its writer has ended, and then removes it, unless it is
    /// killed. So what belongs to data that are still here stays; what belongs to data elsewhere stays for a while.
    private static void removeConfined(Path file) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.exists(dataOf(file)) || isNew(file)) {
            return;
        }
        byte[] path = OpenFile.bytes(file);
        try (OpenFile data = OpenFile.readable(path)) {
            if (isLeft(data, path)) {
                OpenFile.remove(path);
            }
        }
    }

    /// @param confined `SESSION-PID.apart`
    private static Path dataOf(Path confined) {
        String name = confined.getFileName().toString();
        return confined.resolveSibling(name.replaceFirst("-[0-9]+\\.apart$", "") + DATA_SUFFIX);
    }

    private static boolean isNew(Path file) throws IOException {
        Instant made =
                Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
        return !made.isBefore(Instant.now().minus(CREATION_MAX));
    }

    private void reclaim(Path file, SessionList sessions) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        byte[] path = OpenFile.bytes(file);
        try (OpenFile data = OpenFile.readable(path)) {
            if (!isLeft(data, path)) {
                return;
            }
            ByteBuffer header = header(data);
            if (header.getLong((int) HeaderDescriptor.MAGIC_AT) == 0) {
                if (!isNew(file)) { // else a process may be about to open the file that it has made
                    OpenFile.remove(path);
                }
            } else if (header.getLong((int) HeaderDescriptor.MAGIC_AT) == HeaderDescriptor.MAGIC
                    && header.getInt((int) HeaderDescriptor.VERSION_AT) == HeaderDescriptor.VERSION) {
                Path moved = moved(path, sessions);
                byte[] session = moved == null ? directory(header) : OpenFile.bytes(moved);
                if (!reclaim(data, path, session) && (FileView.of(header).equals(own) || isOld(header))) {
                    OpenFile.remove(path);
                }
            }
        }
    }

    /// Whether the program last ran so long ago that its session is gone with its container.
    private static boolean isOld(ByteBuffer header) {
        long ran = header.getLong((int) HeaderDescriptor.NOW_MONO_NANOS)
                - header.getLong((int) HeaderDescriptor.START_MONO_NANOS);
        Instant start = Instant.EPOCH.plusNanos(header.getLong((int) HeaderDescriptor.START_REAL_NANOS));
        return start.plusNanos(Math.max(ran, 0)).isBefore(Instant.now().minus(ELSEWHERE_MAX));
    }

    /// @param session the directory where the data belong, which may be gone or hold another session
    /// @return false when the session is not there
    private static boolean reclaim(OpenFile data, byte[] path, byte[] session) throws IOException {
        try (SessionDirectory opened = SessionDirectory.open(session)) {
            SessionDirectory.Link link = opened.link();
            if (link != null && Arrays.equals(link.target(), path)) {
                if (link.own() && opened.takesData()) {
                    move(data, path, opened);
                }
                return true;
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            // the session was removed, or is in another container
        }
        return false;
    }

    /// The known session whose link leads to a file.
    private static @Nullable Path moved(byte[] file, SessionList sessions) throws IOException {
        for (Path session : sessions.all()) {
            if (!Files.isSymbolicLink(session.resolve(SessionFile.NAME))) {
                continue; // the usual case: no need to open it
            }
            try (SessionDirectory opened = SessionDirectory.open(session)) {
                SessionDirectory.Link link = opened.link();
                if (link != null && Arrays.equals(link.target(), file)) {
                    return session;
                }
            } catch (IOException e) {
                // removed since, or not accessible
            }
        }
        return null;
    }

    /// The known sessions.
    interface SessionList {
        List<Path> all() throws IOException;
    }

    private static ByteBuffer header(OpenFile data) throws IOException {
        ByteBuffer header = ByteBuffer.allocate((int) HeaderDescriptor.SIZE).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel bytes = data.channel(StandardOpenOption.READ)) {
            while (header.hasRemaining() && bytes.read(header, header.position()) > 0) {}
        }
        return header;
    }

    private static byte[] directory(ByteBuffer header) {
        int start = (int) HeaderDescriptor.DIRECTORY;
        int end = start;
        while (end < start + HeaderDescriptor.DIRECTORY_BYTES && header.get(end) != 0) {
            end++;
        }
        byte[] directory = new byte[end - start];
        header.get(start, directory);
        return directory;
    }

    /// Writes to the data of a session of ours, wherever they are.
    void write(Path session, OpenFile.Writing writing) throws IOException {
        try (SessionDirectory opened = SessionDirectory.open(session)) {
            SessionDirectory.Link link = opened.link();
            while (link != null && leadsHere(link)) {
                if (writeLocked(link.target(), writing)) {
                    return;
                }
                SessionDirectory.Link before = link;
                link = opened.link();
                if (link != null && Arrays.equals(link.target(), before.target())) {
                    throw new NoSuchFileException(session.toString());
                }
            }
            try (OpenFile data = opened.directory().readable(SessionFile.NAME)) {
                write(data, writing);
            }
        }
    }

    /// @return false when the data were moved meanwhile
    private static boolean writeLocked(byte[] path, OpenFile.Writing writing) throws IOException {
        try (OpenFile data = OpenFile.readable(path)) {
            data.lock();
            if (data.isAt(path)) {
                write(data, writing);
                return true;
            }
        } catch (NoSuchFileException e) {
            // as the caller will see
        }
        return false;
    }

    private static void write(OpenFile data, OpenFile.Writing writing) throws IOException {
        if (!data.isRegular() || !data.isOwn()) {
            throw new IOException("the session's file is not ours");
        }
        data.write(writing);
    }

    /// Whether our link leads to a file in our directory.
    private boolean leadsHere(SessionDirectory.Link link) throws IOException {
        byte[] here = Posix.bytes(directory + "/");
        byte[] target = link.target();
        if (!link.own() || target.length <= here.length || !isOwnDirectory()) {
            return false;
        }
        for (int i = here.length; i < target.length; i++) {
            if (target[i] == '/') {
                return false;
            }
        }
        return Arrays.equals(target, 0, here.length, here, 0, here.length);
    }

    private boolean isOwnDirectory() throws IOException {
        try {
            OwnDirectory.open(directory).close();
            return true;
        } catch (NoSuchFileException | NotDirectoryException | OwnDirectory.ForeignException e) {
            return false;
        }
    }

    private static void copy(OpenFile from, OpenFile to) throws IOException {
        try (FileChannel in = from.channel(StandardOpenOption.READ);
                FileChannel out = to.channel(StandardOpenOption.WRITE)) {
            ByteBuffer arenaEnd = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            in.read(arenaEnd, HeaderDescriptor.ARENA_END);
            long size = Math.min(in.size(), arenaEnd.getLong(0));
            ByteBuffer block = ByteBuffer.allocate(COPY_BYTES);
            long at = 0;
            while (at < size) {
                block.clear().limit((int) Math.min(COPY_BYTES, size - at));
                while (block.hasRemaining() && in.read(block, at + block.position()) > 0) {}
                block.flip();
                if (!block.hasRemaining()) {
                    break;
                }
                int length = block.limit();
                // The last byte is always written: it sets the file's size.
                if (!isZero(block) || at + length >= size) {
                    while (block.hasRemaining()) {
                        out.write(block, at + block.position());
                    }
                }
                at += length;
            }
        }
    }

    private static boolean isZero(ByteBuffer block) {
        int i = 0;
        while (i < block.limit() && block.get(i) == 0) {
            i++;
        }
        return i == block.limit();
    }
}
