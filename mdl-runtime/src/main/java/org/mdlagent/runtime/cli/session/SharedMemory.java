package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The directory in shared memory that holds the data of sessions while their programs run. Afterwards the data are
/// moved into the sessions' own directories.
public final class SharedMemory {
    private static final int COPY_BYTES = 1 << 16;

    /// How long a process may take from making its file to writing what it is.
    private static final Duration CREATION_MAX = Duration.ofMinutes(1);

    private final Path directory;

    SharedMemory(Path directory) {
        this.directory = directory;
    }

    /// Moves the data of a session from shared memory into its directory, once nobody writes to them any more.
    ///
    ///   1 copy to a file beside the link, empty pages left out
    ///   2 rename it over the link: who opens the session finds the one or the other
    ///   3 remove the original
    ///
    /// Two that do this at once make the same copy, and the second rename and removal change nothing.
    public static void settle(Path session) throws IOException {
        Path link = session.resolve(SessionFile.NAME);
        if (!Files.isSymbolicLink(link) || !Files.isWritable(session)) {
            return;
        }
        Path memory = SessionFile.locate(session);
        try (SessionReader reader = SessionReader.open(session)) {
            if (ProgramState.runs(reader.facts()) || isMapped(memory)) {
                return;
            }
        }
        Files.deleteIfExists(session.resolve(ControlClient.SOCKET));
        move(memory, link);
    }

    private static void move(Path memory, Path link) throws IOException {
        Path copy = link.resolveSibling(
                SessionFile.NAME + "." + ProcessHandle.current().pid());
        try {
            copy(memory, copy);
            Files.move(copy, link, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(copy);
            throw e;
        }
        Files.deleteIfExists(memory);
    }

    /// What ended programs have left, the first step of freeing it:
    ///
    ///   1 read who recorded what, and where; a session that was moved since is found among those known here
    ///   2 list the mapped files
    ///   3 touch those of which the program had ended at 1, and that were not mapped at 2
    ///
    /// A process that maps a file later has it from one that had it mapped at 2.
    List<Remnant> remnants() throws IOException {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) || !isOwn(directory)) {
            return List.of();
        }
        List<Remnant> remnants = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.mdl")) {
            for (Path file : files) {
                Path session = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) ? ofEndedProgram(file) : null;
                if (session != null) {
                    remnants.add(new Remnant(file, session.resolve(SessionFile.NAME)));
                } else if (isUnbegun(file)) {
                    remnants.add(new Remnant(file, null));
                }
            }
        }
        return remnants;
    }

    /// The other steps: moves what was left into the sessions' directories, and removes what no session leads to.
    ///
    /// @param sessions that are known here, listed after the remnants
    void reclaim(List<Remnant> remnants, List<Path> sessions) throws IOException {
        Map<Path, Path> known = new HashMap<>();
        for (Path session : sessions) {
            Path link = session.resolve(SessionFile.NAME);
            if (Files.isSymbolicLink(link)) {
                known.put(Files.readSymbolicLink(link), link);
            }
        }
        Set<Long> mapped = mappedBelow(directory);
        IOException failure = null;
        for (Remnant remnant : remnants) {
            try {
                if (!mapped.contains(inode(remnant.file))) {
                    remnant.reclaim(known.get(remnant.file));
                }
            } catch (NoSuchFileException e) {
                // another mdl was faster
            } catch (IOException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /// A file in shared memory whose program has ended.
    ///
    /// @param link its name in the session's directory, which may be gone or hold another session; null when the
    ///             program ended before it wrote which directory that is
    record Remnant(Path file, @Nullable Path link) {
        /// @param moved where the link is now, if that is known
        private void reclaim(@Nullable Path moved) throws IOException {
            Path current = moved == null ? link : moved;
            if (link == null || current == null) {
                Files.deleteIfExists(file);
            } else if (Files.isSymbolicLink(current)
                    && Files.readSymbolicLink(current).equals(file)) {
                if (isOwn(current) && Files.isWritable(current.toAbsolutePath().getParent())) {
                    move(file, current);
                }
            } else if (Files.exists(current, LinkOption.NOFOLLOW_LINKS)
                    || Files.notExists(current, LinkOption.NOFOLLOW_LINKS)) {
                // Neither holds for a link that we may not look at, and which may lead here.
                Files.deleteIfExists(file);
            }
        }
    }

    /// Whether the process that made a file was killed before it wrote who it is. One that is about to do so has made
    /// the file just now.
    private static boolean isUnbegun(Path file) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (FileChannel bytes = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer magic = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            bytes.read(magic, HeaderDescriptor.MAGIC);
            Instant made =
                    Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
            return isOwn(file)
                    && magic.getLong(0) == 0
                    && made.isBefore(Instant.now().minus(CREATION_MAX));
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static boolean isOwn(Path file) throws IOException {
        return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(Posix.effectiveUser());
    }

    /// The directory of the session whose data a file holds, once its program has ended; else null.
    private static @Nullable Path ofEndedProgram(Path file) throws IOException {
        try (SessionReader reader = SessionReader.open(file);
                FileChannel bytes = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer directory = ByteBuffer.allocate(HeaderDescriptor.DIRECTORY_BYTES);
            bytes.read(directory, HeaderDescriptor.DIRECTORY);
            int length = 0;
            while (length < directory.position() && directory.get(length) != 0) {
                length++;
            }
            // A path that this locale's encoding cannot express is refused below, not taken for another.
            Charset encoding = Charset.forName(System.getProperty("native.encoding", "UTF-8"));
            String path = new String(directory.array(), 0, length, encoding);
            return !path.startsWith("/") || ProgramState.runs(reader.facts()) ? null : Path.of(path);
        } catch (SessionFormatException | NoSuchFileException | InvalidPathException e) {
            return null;
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
                FileChannel out = FileChannel.open(
                        to,
                        Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
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
                // The last byte is written in any case: it gives the file its size.
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

    /// Whether a process has the file mapped: a forked child goes on recording after its parent has ended.
    private static boolean isMapped(Path file) throws IOException {
        Path directory = file.getParent();
        return directory != null && mappedBelow(directory).contains(inode(file));
    }

    /// The mapped files in a directory. By their numbers: names may be in any encoding.
    private static Set<Long> mappedBelow(Path directory) throws IOException {
        Set<Long> inodes = new HashSet<>();
        String prefix = directory + "/";
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                try (Stream<String> lines = Files.lines(process.resolve("maps"), StandardCharsets.ISO_8859_1)) {
                    lines.filter(line -> line.startsWith(prefix, line.indexOf('/')))
                            .forEach(line -> inodes.add(Long.valueOf(line.split(" +", 6)[4])));
                } catch (IOException | UncheckedIOException e) {
                    // ended meanwhile, or another user's: it cannot have opened our file
                }
            }
        }
        return inodes;
    }

    private static Long inode(Path file) throws IOException {
        return (Long) Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }
}
