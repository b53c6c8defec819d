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
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionFormatException;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The sessions on this machine: where they are, which of them is meant, and what is done with one whose program has
/// ended.
public final class SessionStore {
    private static final int COPY_BYTES = 1 << 16;

    /// A process that started later than its session, by the clock's inaccuracy, is another one with the same id.
    private static final Duration CLOCK_SLACK = Duration.ofSeconds(2);

    /// How long a process may take from making its file to writing what it is.
    private static final Duration CREATION_MAX = Duration.ofMinutes(1);

    private final List<Path> roots;
    private final Path memory;

    /// @param roots  directories of sessions, the preferred one first
    /// @param memory directory in shared memory that holds the data of sessions whose programs run
    public SessionStore(List<Path> roots, Path memory) {
        this.roots = List.copyOf(roots);
        this.memory = memory;
    }

    public static SessionStore ofUser(Map<String, String> environment) {
        String own = "mdl-" + Posix.effectiveUser();
        return new SessionStore(List.of(defaultRoot(environment), Path.of("/tmp", own)), Path.of("/dev/shm", own));
    }

    /// Where sessions go that nobody gave a directory.
    private static Path defaultRoot(Map<String, String> environment) {
        String state = environment.get("XDG_STATE_HOME");
        if (state != null && state.startsWith("/")) {
            return Path.of(state, "mdl/sessions");
        }
        String home = environment.get("HOME");
        return Path.of(home == null || home.isEmpty() ? System.getProperty("user.home") : home)
                .resolve(".local/state/mdl/sessions");
    }

    public Path root() {
        return roots.getFirst();
    }

    /// The directories that hold a session, the newest first.
    public List<Path> all() throws IOException {
        List<Path> sessions = new ArrayList<>();
        for (Path root : roots) {
            sessions.addAll(in(root));
        }
        sessions.sort(NEWEST_FIRST);
        return sessions;
    }

    private static List<Path> in(Path directory) throws IOException {
        List<Path> sessions = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, SessionStore::holdsSession)) {
            entries.forEach(sessions::add);
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
        sessions.sort(NEWEST_FIRST);
        return sessions;
    }

    public static boolean holdsSession(Path directory) {
        return Files.exists(directory.resolve(SessionReader.FILE_NAME), LinkOption.NOFOLLOW_LINKS);
    }

    /// By the time in the name, which has seconds, and among those of a second by the time of the file system.
    private static final Comparator<Path> NEWEST_FIRST = Comparator.comparing(SessionStore::time)
            .thenComparing(SessionStore::modified)
            .reversed();

    private static String time(Path session) {
        String name = session.getFileName().toString();
        return name.substring(name.lastIndexOf('-') + 1);
    }

    private static Instant modified(Path session) {
        try {
            return Files.getLastModifiedTime(session.resolve(SessionReader.FILE_NAME), LinkOption.NOFOLLOW_LINKS)
                    .toInstant();
        } catch (IOException e) {
            return Instant.EPOCH;
        }
    }

    /// The session that a person means: a path, the id of a process, the beginning of a name, or, without a word, the
    /// newest.
    public Path find(@Nullable String wanted) throws IOException {
        if (wanted == null) {
            return newest(all(), "there is no session yet", "try: mdl run -- PROGRAM");
        }
        Path path = Path.of(wanted);
        if (wanted.indexOf('/') >= 0 || Files.exists(path)) {
            if (Files.isDirectory(path) && !holdsSession(path)) {
                return newest(in(path), path + " holds no session", "mdl list sessions shows those there are");
            }
            return path;
        }
        List<Path> sessions = all();
        if (wanted.chars().allMatch(Character::isDigit)) {
            List<Path> ofProcess = sessions.stream()
                    .filter(session -> name(session).contains("-" + wanted + "-"))
                    .toList();
            if (!ofProcess.isEmpty()) {
                return ofProcess.getFirst();
            }
            for (Path session : sessions) {
                if (hasProcess(session, wanted)) {
                    return session;
                }
            }
        }
        return newest(
                sessions.stream().filter(named(wanted)).toList(),
                "there is no session " + wanted,
                "mdl list sessions shows those there are");
    }

    /// Whether the process is one that the session's own has forked.
    private static boolean hasProcess(Path session, String pid) {
        try (SessionReader reader = SessionReader.open(session)) {
            return reader.profile().family().processes().stream()
                    .anyMatch(process -> Integer.toString(process.pid()).equals(pid));
        } catch (IOException e) {
            return false; // a damaged one, of which nothing is wanted here
        }
    }

    private static Predicate<Path> named(String prefix) {
        return session -> name(session).startsWith(prefix);
    }

    private static Path newest(List<Path> sessions, String otherwise, String remedy) {
        if (sessions.isEmpty()) {
            throw CommandFailure.failed(otherwise, remedy);
        }
        return sessions.getFirst();
    }

    public static String name(Path session) {
        return session.toAbsolutePath().normalize().getFileName().toString();
    }

    /// The session that a process recorded, in the directory it was given or in one of its own choice. Null for none.
    @Nullable
    public Path of(int pid, Instant since, @Nullable Path given) throws IOException {
        List<Path> candidates = new ArrayList<>();
        if (given != null) {
            if (holdsSession(given)) {
                candidates.add(given);
            }
            candidates.addAll(in(given));
        }
        candidates.addAll(all().stream()
                .filter(session -> name(session).contains("-" + pid + "-"))
                .toList());
        for (Path candidate : candidates) {
            try (SessionReader reader = SessionReader.open(candidate)) {
                SessionFacts facts = reader.facts();
                if (facts.pid() == pid && !facts.started().isBefore(since.minus(CLOCK_SLACK))) {
                    return candidate;
                }
            } catch (IOException e) {
                // not the one: the session of a run that has just ended can be read
            }
        }
        return null;
    }

    /// Makes a session in a directory of the user's choice known here, so that it is found without its path.
    public void remember(Path session) {
        try (SessionReader reader = SessionReader.open(session)) {
            String id = reader.facts().id();
            if (!id.isEmpty() && id.indexOf('/') < 0) {
                Files.createDirectories(root());
                Files.createSymbolicLink(root().resolve(id), session.toAbsolutePath());
            }
        } catch (IOException e) {
            // a convenience only: the session is found by its path
        }
    }

    /// Whether the program of a session still runs.
    public static boolean runs(SessionFacts session) {
        return session.ended() == null
                && ProcessHandle.of(session.pid())
                        .filter(ProcessHandle::isAlive)
                        .flatMap(process -> process.info().startInstant())
                        .filter(start -> !start.isAfter(session.started().plus(CLOCK_SLACK)))
                        .isPresent();
    }

    /// Writes how a program ended into its session.
    public static void ended(Path session, Posix.Ending ending, Instant when) throws IOException {
        try (FileChannel file = FileChannel.open(
                SessionReader.locate(session),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer header = ByteBuffer.allocate((int) HeaderDescriptor.SIZE).order(ByteOrder.LITTLE_ENDIAN);
            file.read(header, 0);
            putInt(file, HeaderDescriptor.EXIT_STATUS, ending.status());
            putInt(file, HeaderDescriptor.EXIT_SIGNAL, ending.signal());
            if (header.getLong((int) HeaderDescriptor.END_REAL_NANOS) == 0) {
                long nanos = Math.addExact(Math.multiplyExact(when.getEpochSecond(), 1_000_000_000L), when.getNano());
                put(file, HeaderDescriptor.END_REAL_NANOS, word(Long.BYTES).putLong(nanos));
            }
            if (header.getInt((int) HeaderDescriptor.STATE) != HeaderDescriptor.STATE_AGENT_DEAD) {
                putInt(file, HeaderDescriptor.STATE, HeaderDescriptor.STATE_ENDED);
            }
        }
    }

    private static void putInt(FileChannel file, long at, int value) throws IOException {
        put(file, at, word(Integer.BYTES).putInt(value));
    }

    private static void put(FileChannel file, long at, ByteBuffer value) throws IOException {
        value.flip();
        while (value.hasRemaining()) {
            file.write(value, at + value.position());
        }
    }

    private static ByteBuffer word(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /// Moves the data of a session from shared memory into its directory, once nobody writes to them any more.
    ///
    ///   1 copy to a file beside the link, empty pages left out
    ///   2 rename it over the link: who opens the session finds the one or the other
    ///   3 remove the original
    ///
    /// Two that do this at once make the same copy, and the second rename and removal change nothing.
    public static void settle(Path session) throws IOException {
        Path link = session.resolve(SessionReader.FILE_NAME);
        if (!Files.isSymbolicLink(link) || !Files.isWritable(session)) {
            return;
        }
        Path memory = SessionReader.locate(session);
        try (SessionReader reader = SessionReader.open(session)) {
            if (runs(reader.facts()) || isMapped(memory)) {
                return;
            }
        }
        Files.deleteIfExists(session.resolve(ControlClient.SOCKET));
        move(memory, link);
    }

    private static void move(Path memory, Path link) throws IOException {
        Path copy = link.resolveSibling(
                SessionReader.FILE_NAME + "." + ProcessHandle.current().pid());
        try {
            copy(memory, copy);
            Files.move(copy, link, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(copy);
            throw e;
        }
        Files.deleteIfExists(memory);
    }

    /// Frees the shared memory that ended programs have left: moves their data into their sessions' directories, and
    /// removes those that no session leads to.
    ///
    ///   1 read who recorded what, and where; a session that was moved since is found among those known here
    ///   2 list the mapped files
    ///   3 touch those of which the program had ended at 1, and that were not mapped at 2
    ///
    /// A process that maps a file later has it from one that had it mapped at 2.
    public void reclaim() throws IOException {
        if (!Files.isDirectory(memory, LinkOption.NOFOLLOW_LINKS) || !isOwn(memory)) {
            return;
        }
        List<Remnant> remnants = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(memory, "*.mdl")) {
            for (Path file : files) {
                Path directory = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) ? ofEndedProgram(file) : null;
                if (directory != null) {
                    remnants.add(new Remnant(file, directory.resolve(SessionReader.FILE_NAME)));
                } else if (isUnbegun(file)) {
                    remnants.add(new Remnant(file, null));
                }
            }
        }
        if (remnants.isEmpty()) {
            return;
        }
        Map<Path, Path> known = new HashMap<>();
        for (Path session : all()) {
            Path link = session.resolve(SessionReader.FILE_NAME);
            if (Files.isSymbolicLink(link)) {
                known.put(Files.readSymbolicLink(link), link);
            }
        }
        Set<Long> mapped = mappedBelow(memory);
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
    private record Remnant(Path file, @Nullable Path link) {
        /// @param moved where the link is now, if that is known
        void reclaim(@Nullable Path moved) throws IOException {
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
            ByteBuffer magic = word(Long.BYTES);
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
            return !path.startsWith("/") || runs(reader.facts()) ? null : Path.of(path);
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
            ByteBuffer arenaEnd = word(Long.BYTES);
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
