package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;

/// A running process, as `/proc` shows it to a user who wants to attach to it.
///
/// @param pid         its id
/// @param status      `/proc/PID/status`: values by name
/// @param images      paths of its mapped files
/// @param environment variables that it was started with; empty when they may not be read
/// @param elfClass    of its program's file: 1 for 32 bits, 2 for 64
record TargetProcess(
        int pid, Map<String, String> status, List<String> images, Map<String, String> environment, int elfClass) {

    private static final int ELF_CLASS_AT = 4;
    private static final int ELF_CLASS_64 = 2;

    private static final int EFFECTIVE_USER = 1;

    /// Masks in `/proc`: bit 0 is signal 1. SIGILL and SIGTRAP.
    private static final long TRAP_SIGNALS = 1 << 3 | 1 << 4;

    /// Where sessions of running programs are.
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private static final String LIBRARY = "/libmdlagent.so";

    /// Reads a process's data.
    ///
    /// @throws CommandFailure when it does not exist, or may not be read
    static TargetProcess read(int pid) throws IOException {
        Path process = Path.of("/proc", Integer.toString(pid));
        try {
            int elfClass = elfClass(process); // first: what has no program has the other files
            return new TargetProcess(pid, statusOf(process), images(pid), environment(process), elfClass);
        } catch (NoSuchFileException e) {
            if (!Files.exists(process)) {
                throw CommandFailure.failed("there is no process " + pid, "pgrep NAME shows the ids of a program");
            }
            boolean ended = statusOf(process).getOrDefault("State", "").startsWith("Z");
            throw CommandFailure.failed(
                    ended
                            ? "process " + pid + " has ended, and waits for its parent"
                            : pid + " is a thread of the kernel",
                    "pgrep NAME shows the ids of a program");
        } catch (AccessDeniedException e) {
            throw CommandFailure.failed(
                    "process " + pid + " may not be looked at: it is another user's, or protects itself",
                    "try: sudo mdl attach " + pid);
        }
    }

    private static Map<String, String> statusOf(Path process) throws IOException {
        Map<String, String> values = new LinkedHashMap<>();
        for (String line : Files.readAllLines(process.resolve("status"), StandardCharsets.ISO_8859_1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                values.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        }
        return values;
    }

    private static List<String> images(int pid) throws IOException {
        return MemoryMap.read(pid).regions().stream()
                .map(MemoryMap.Region::path)
                .distinct()
                .toList();
    }

    private static Map<String, String> environment(Path process) throws IOException {
        Map<String, String> variables = new LinkedHashMap<>();
        String text = Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1);
        for (String variable : text.split("\0")) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                variables.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        return variables;
    }

    private static int elfClass(Path process) throws IOException {
        try (InputStream file = Files.newInputStream(process.resolve("exe"))) {
            byte[] head = file.readNBytes(ELF_CLASS_AT + 1);
            return head.length > ELF_CLASS_AT ? head[ELF_CLASS_AT] : 0;
        }
    }

    String name() {
        return status.getOrDefault("Name", Integer.toString(pid));
    }

    int effectiveUser() {
        return Integer.parseInt(users().get(EFFECTIVE_USER));
    }

    /// Its real, effective, saved and file system users.
    List<String> users() {
        return List.of(status.getOrDefault("Uid", "0\t0\t0\t0").split("\\s+"));
    }

    /// Its effective group.
    int effectiveGroup() {
        return Integer.parseInt(status.getOrDefault("Gid", "0\t0\t0\t0").split("\\s+")[EFFECTIVE_USER]);
    }

    /// Its name, as a part of a file's.
    String fileName() {
        return name().replaceAll("[/\\p{Cntrl}]", "_");
    }

    /// Its id in the innermost PID namespace that it is in.
    int innermostPid() {
        String[] ids = status.getOrDefault("NSpid", Integer.toString(pid)).split("\\s+");
        return Integer.parseInt(ids[ids.length - 1]);
    }

    /// Name and id.
    String title() {
        return name() + " (" + pid + ")";
    }

    /// The path of its program.
    String executable() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc", Integer.toString(pid), "exe"))
                .toString();
    }

    AttachRoom room() {
        return AttachRoom.of(Path.of("/"), pid, status);
    }

    /// Threads that block SIGTRAP or SIGILL now.
    int threadsThatBlockTraps() throws IOException {
        int blocking = 0;
        Path threads = Path.of("/proc", Integer.toString(pid), "task");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(threads)) {
            for (Path thread : all) {
                String mask = statusOf(thread).getOrDefault("SigBlk", "0");
                blocking += (Long.parseUnsignedLong(mask, 16) & TRAP_SIGNALS) == 0 ? 0 : 1;
            }
        }
        return blocking;
    }

    boolean hasAgent() {
        return images.stream().anyMatch(image -> image.contains(LIBRARY));
    }

    /// What prevents that the agent is brought into it, the first cause first, with remedies.
    ///
    /// @param library the agent's
    List<CommandFailure> objections(Path library) {
        String restart = "start it with the agent: mdl run -- PROGRAM";
        List<CommandFailure> objections = new ArrayList<>();
        String state = status.getOrDefault("State", "");
        if (hasAgent()) {
            return List.of(refuse(
                    "has the agent already, or has had it",
                    "mdl top " + pid + " shows it; after mdl detach --for-good the program must start anew"));
        }
        CommandFailure loading = objectionToLoading(restart);
        if (loading != null) {
            objections.add(loading);
        }
        if (has("/libjvm.so")) {
            objections.add(refuse("hosts a Java runtime already", "for Java there are jcmd and async-profiler"));
        }
        if (has("/libtsan.so") || has("/libasan.so")) {
            objections.add(refuse("is built with a sanitizer", restart));
        }
        if (!status.getOrDefault("TracerPid", "0").equals("0")) {
            objections.add(refuse("is traced by process " + status.get("TracerPid"), "detach the debugger first"));
        }
        if (state.startsWith("T")) {
            objections.add(refuse("is stopped", "kill -CONT " + pid));
        }
        boolean isRoot = Posix.effectiveUser() == 0;
        if (!isRoot && hasSeccompFilter()) {
            objections.add(refuse("has a seccomp filter, which only root may read", "sudo mdl attach " + pid));
        }
        if (status.getOrDefault("x86_Thread_features", "").contains("shstk")) {
            objections.add(refuse("has shadow stacks, which do not let a thread be borrowed", restart));
        }
        AttachRoom room = room();
        if (room.addressSpace() < AttachRoom.ADDRESS_SPACE_MIN) {
            objections.add(refuse(
                    "may map only " + (room.addressSpace() >> 20) + " MiB more (RLIMIT_AS), and the agent needs "
                            + (AttachRoom.ADDRESS_SPACE_MIN >> 20),
                    "prlimit --as=unlimited --pid " + pid));
        }
        if (room.threads() < AttachRoom.THREADS_MIN) {
            objections.add(refuse(
                    "may have only " + room.threads() + " threads more (pids.max of its control group), and the agent"
                            + " needs " + AttachRoom.THREADS_MIN,
                    "raise pids.max"));
        }
        if (!isRoot && !sees(library)) {
            objections.add(refuse(
                    "does not see " + library + ": it is in a container",
                    "sudo mdl attach " + pid + ", or bind the installation into it by the same path"));
        }
        if (!Files.exists(Path.of("/proc/" + pid + "/root/proc/version"))) {
            objections.add(refuse("has no /proc in its file system", "mount it there"));
        }
        return objections;
    }

    private @Nullable CommandFailure objectionToLoading(String restart) {
        if (elfClass != ELF_CLASS_64) {
            return refuse("is no program of 64 bits", "mdl doctor says what can be measured");
        }
        if (has("/ld-musl-")) {
            return refuse("is linked with musl, and the agent needs glibc", "build it for glibc");
        }
        if (!has("/libc.so.6") && !has("/libc-2.")) {
            return refuse("is statically linked: nothing can be loaded into it", "link it dynamically");
        }
        return has("/libc.so.6") ? null : refuse("has a glibc older than 2.34", restart);
    }

    private boolean has(String part) {
        return images.stream().anyMatch(image -> image.contains(part));
    }

    /// Whether one of its threads has a filter: each has its own.
    boolean hasSeccompFilter() {
        Path threads = Path.of("/proc", Integer.toString(pid), "task");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(threads)) {
            for (Path thread : all) {
                if (!statusOf(thread).getOrDefault("Seccomp", "0").equals("0")) {
                    return true;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // A thread has ended: the injector looks again.
        }
        return false;
    }

    /// The failure of an attach that has changed nothing.
    CommandFailure leftAsItIs(String why) {
        return refuse(
                "was left as it is: " + (why.isEmpty() ? "the injector has failed" : why),
                "docs/attaching.md explains");
    }

    private CommandFailure refuse(String why, @Nullable String remedy) {
        return CommandFailure.failed("process " + pid + " (" + name() + ") " + why, remedy);
    }

    /// Whether it has another view of the file system than this process: it is in a container, or has changed its root.
    boolean isElsewhere(Path library) {
        return !sees(library) || !sharesMemory();
    }

    /// Whether it has the same shared memory in its file system.
    boolean sharesMemory() {
        return sees(SHARED_MEMORY);
    }

    /// Whether a path leads to the same file for the process as here: it may be in a container.
    boolean sees(Path file) {
        try {
            Path there = Path.of("/proc/" + pid + "/root" + file);
            return Files.exists(there, LinkOption.NOFOLLOW_LINKS) && Files.isSameFile(there, file);
        } catch (IOException e) {
            return false;
        }
    }
}
