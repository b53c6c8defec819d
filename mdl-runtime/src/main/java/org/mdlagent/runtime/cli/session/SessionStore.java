package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.file.OwnDirectory;
import org.mdlagent.profiler.report.file.SessionFile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptionsText;

/// The sessions on this machine: where they are, and which one the user means.
public final class SessionStore {
    private static final String OPTIONS = "MDL_OPTIONS=";

    private final List<Path> roots;
    private final SharedMemory memory;
    private final Consumer<String> notices;
    private final Set<Path> noticed = ConcurrentHashMap.newKeySet();

    /// @param roots   directories of sessions, the preferred one first
    /// @param memory  directory in shared memory with the data of sessions whose programs run
    /// @param notices receives a line for each directory that is skipped, wholly or in part, because it is
    ///     not ours
    public SessionStore(List<Path> roots, Path memory, Consumer<String> notices) {
        this.roots = List.copyOf(roots);
        this.memory = new SharedMemory(memory);
        this.notices = notices;
    }

    public static SessionStore ofUser(Map<String, String> environment, Console console) {
        Path own = Path.of("/tmp/mdl-" + Posix.effectiveUser());
        return new SessionStore(
                List.of(defaultRoot(environment), own), SharedMemory.DIRECTORY, notice -> console.say(notice, null));
    }

    /// Where sessions go without a given directory.
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

    /// The directories with a session of ours, newest first.
    public List<Path> all() {
        List<Dated> sessions = new ArrayList<>();
        for (Path root : roots) {
            try (OwnDirectory opened = OwnDirectory.open(root)) {
                sessions.addAll(in(root, opened.path()));
            } catch (NoSuchFileException e) {
                // none has been recorded yet
            } catch (IOException e) {
                notice(root, "left out: " + (e instanceof FileSystemException f ? f.getReason() : e.getMessage()));
            }
        }
        return newestFirst(sessions);
    }

    /// The sessions in a directory that the user named.
    private List<Path> in(Path directory) throws IOException {
        try (OpenFile opened = OpenFile.directory(OpenFile.bytes(directory))) {
            return newestFirst(in(directory, opened.path()));
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
    }

    /// @param opened the directory, by its descriptor
    private List<Dated> in(Path directory, Path opened) throws IOException {
        List<Dated> sessions = new ArrayList<>();
        int foreign = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(opened)) {
            for (Path entry : entries) {
                Path file = entry.resolve(SessionFile.NAME);
                if (isOwn(entry) && isOwn(file)) {
                    sessions.add(new Dated(directory.resolve(entry.getFileName()), modifiedAt(file)));
                } else if (holdsSession(entry) || isClosed(entry)) {
                    foreign++;
                }
            }
        } catch (DirectoryIteratorException e) {
            notice(directory, "cannot be read further: " + e.getMessage());
        }
        if (foreign > 0) {
            notice(directory, "left out " + foreign + " of its entries, which belong to other users");
        }
        return sessions;
    }

    /// Reported once: a server of sessions looks each second.
    private void notice(Path directory, String what) {
        if (noticed.add(directory)) {
            notices.accept(directory + ": " + what);
        }
    }

    private static boolean isClosed(Path entry) {
        return Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS) && !Files.isExecutable(entry);
    }

    private static boolean isOwn(Path entry) {
        try {
            return Files.getAttribute(entry, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                    .equals(Posix.effectiveUser());
        } catch (IOException e) {
            return false;
        }
    }

    public static boolean holdsSession(Path directory) {
        return Files.exists(directory.resolve(SessionFile.NAME), LinkOption.NOFOLLOW_LINKS);
    }

    private static final DateTimeFormatter NAME_TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss").withZone(ZoneOffset.UTC);

    private static final Pattern PROGRAM = Pattern.compile("(.+)-[0-9]+-[0-9]{8}T[0-9]{6}(?:-[0-9])?");

    private static final Pattern TIME = Pattern.compile("(?<=-)[0-9]{8}T[0-9]{6}(?=-|$)");

    /// A session and its start, as known when it was listed.
    private record Dated(Path session, String time, Instant modified) {
        Dated(Path session, Instant modified) {
            this(session, timeOf(session), modified);
        }
    }

    /// Sorted by the time in the name, to the second, then by the file's time. Each time is read once,
    /// because a file's time may change during the sort.
    private static List<Path> newestFirst(List<Dated> sessions) {
        return sessions.stream()
                .sorted(Comparator.comparing(Dated::time)
                        .thenComparing(Dated::modified)
                        .reversed())
                .map(Dated::session)
                .toList();
    }

    private static String timeOf(Path session) {
        Matcher time = TIME.matcher(session.getFileName().toString());
        return time.find() ? time.group() : "";
    }

    private static Instant modifiedAt(Path file) {
        try {
            return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
        } catch (IOException e) {
            return Instant.EPOCH;
        }
    }

    /// The session that the user means: a path, a process id, a prefix of a name, or, without a word, the
    /// newest.
    public Path find(@Nullable String wanted) throws IOException {
        if (wanted == null) {
            return newest(all(), "there is no session yet", "try: mdl run -- PROGRAM");
        }
        Path path = Path.of(wanted);
        if (wanted.indexOf('/') >= 0 || holdsSession(path)) {
            return at(path);
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
            for (Path session : givenTo(wanted)) {
                if (hasProcess(session, wanted)) {
                    return session;
                }
            }
        }
        List<Path> named = sessions.stream()
                .filter(session -> name(session).startsWith(wanted))
                .toList();
        // A directory with the program's name is not one of its sessions.
        if (named.isEmpty()) {
            if (Files.exists(path)) {
                return at(path);
            }
            throw absent(wanted);
        }
        return unambiguous(named, wanted).getFirst();
    }

    /// The session at a path, or the newest in a directory.
    private Path at(Path path) throws IOException {
        if (Files.isDirectory(path) && !holdsSession(path)) {
            return newest(in(path), path + " holds no session", "mdl list sessions lists them");
        }
        return RunSessions.programOf(path, of(path));
    }

    /// Sessions of one program: the one with this name, or the only one whose name begins with it.
    private static List<Path> unambiguous(List<Path> named, String wanted) {
        Map<String, List<Path>> programs =
                named.stream().collect(Collectors.groupingBy(SessionStore::program, TreeMap::new, Collectors.toList()));
        if (programs.size() > 1 && !programs.containsKey(wanted)) {
            throw CommandFailure.failed(
                    wanted + " is ambiguous: " + String.join(", ", programs.keySet()), "write more of the name");
        }
        return programs.getOrDefault(wanted, named);
    }

    /// The name of a session without process and time; the whole name if the user named it.
    private static String program(Path session) {
        Matcher parts = PROGRAM.matcher(name(session));
        return parts.matches() ? parts.group(1) : name(session);
    }

    private static CommandFailure absent(String wanted) {
        if (!isRunning(wanted)) {
            return CommandFailure.failed("there is no session " + wanted, "mdl list sessions lists them");
        }
        Object other = ProgramState.otherUser(wanted);
        return other == null
                ? CommandFailure.failed(
                        "process " + wanted + " has no agent",
                        "try: mdl attach " + wanted + ", or mdl top --attach " + wanted
                                + "; or start the program with it: mdl run -- PROGRAM")
                : CommandFailure.failed(
                        "the session of process " + wanted + " is of another user",
                        "sessions are private, also from root; ask as that user: sudo -u '#" + other + "' mdl ...");
    }

    private static boolean isRunning(String wanted) {
        return wanted.chars().allMatch(Character::isDigit) && Files.exists(Path.of("/proc", wanted));
    }

    /// Sessions in the directory given to a running process, which is not known here before its end.
    private List<Path> givenTo(String pid) {
        Path process = Path.of("/proc", pid);
        try {
            for (String variable : Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1)
                    .split("\0")) {
                if (variable.startsWith(OPTIONS)) {
                    byte[] bytes = variable.substring(OPTIONS.length()).getBytes(StandardCharsets.ISO_8859_1);
                    String given = AgentOptionsText.parse(new String(bytes, StandardCharsets.UTF_8))
                            .last(AgentOption.SESSION);
                    return given == null
                            ? List.of()
                            : of(process.resolve("cwd").toRealPath().resolve(given));
                }
            }
        } catch (IOException | InvalidPathException e) {
            // another user's, or it has ended
        }
        return List.of();
    }

    /// The session of a directory, and those inside it.
    private List<Path> of(Path directory) throws IOException {
        List<Path> sessions = new ArrayList<>(in(directory));
        if (holdsSession(directory)) {
            sessions.addFirst(directory);
        }
        return sessions;
    }

    /// Whether the process is the session's own, or one that it has forked.
    private static boolean hasProcess(Path session, String pid) {
        try (SessionReader reader = SessionReader.open(session)) {
            return reader.profile().family().processes().stream()
                    .anyMatch(process -> Integer.toString(process.pid()).equals(pid));
        } catch (IOException e) {
            return false; // a damaged session, which is not reported here
        }
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

    /// The session recorded by a process, or by what it has executed in its place, in the directory given to
    /// it or in one of its own choice. Null for none.
    ///
    /// @param start of the process
    @Nullable
    public Path of(int pid, SessionFacts.@Nullable ProcessStart start, @Nullable Path given) throws IOException {
        List<Path> candidates = new ArrayList<>();
        if (given != null) {
            candidates.addAll(of(given));
        }
        Instant began = start == null ? null : ProgramState.instantOf(start);
        String earliest = began == null ? "9" : NAME_TIME.format(began);
        candidates.addAll(all().stream()
                .filter(session -> name(session).contains("-" + pid + "-")
                        || timeOf(session).compareTo(earliest) >= 0)
                .toList());
        return new RunSessions(pid, start).programOf(candidates);
    }

    /// Earlier sessions of a process: of what it was before it executed the session's program in its place.
    public List<Path> before(int pid, SessionFacts.@Nullable ProcessStart start, Path session) throws IOException {
        return new RunSessions(pid, start)
                .own(all().stream()
                        .filter(other -> name(other).contains("-" + pid + "-") && !isSame(session, other))
                        .toList());
    }

    /// One of them may be the link to a session elsewhere.
    private static boolean isSame(Path session, Path other) {
        try {
            return Files.isSameFile(session, other);
        } catch (IOException e) {
            return false;
        }
    }

    /// Links to a session in a directory of the user's choice, so that it is found without its path.
    public void remember(Path session) {
        try (SessionReader reader = SessionReader.open(session)) {
            String id = reader.facts().id();
            if (!id.isEmpty() && id.indexOf('/') < 0) {
                try (OwnDirectory known = OwnDirectory.create(root())) {
                    Files.createSymbolicLink(known.path().resolve(id), session.toAbsolutePath());
                }
            }
        } catch (IOException e) {
            // a convenience only: the session is found by its path
        }
    }

    /// Frees the shared memory of ended programs: moves their data into their sessions' directories, and
    /// removes data without a session.
    public void reclaim() throws IOException {
        memory.reclaim(this::all);
    }

    /// The session that the user means, with its data moved out of shared memory if its program has ended.
    /// Data that cannot be moved can be read where they are.
    public Path findSettled(@Nullable String wanted, Console console) throws IOException {
        Path session = find(wanted);
        try {
            memory.settle(session);
        } catch (IOException e) {
            console.say(
                    "the data of " + name(session) + " stay in shared memory: " + e.getMessage(),
                    "a restart of the machine clears it; mdl list sessions tries again");
        }
        return session;
    }
}
