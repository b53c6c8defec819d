package org.mdlagent.runtime.cli.terminal;

import com.sun.jna.LastErrorException;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The system calls that the command line needs and the JDK lacks, for Linux on x86-64 with glibc.
///
/// Arguments and environments are bytes: user input need not be text in any encoding.
public final class Posix {
    public static final int SIGHUP = 1;
    public static final int SIGINT = 2;
    public static final int SIGQUIT = 3;
    public static final int SIGUSR1 = 10;
    public static final int SIGUSR2 = 12;
    public static final int SIGTERM = 15;

    public static final int ENOENT = 2;
    static final int EINTR = 4;

    private static final int SIGSET_BYTES = 128;
    private static final int SIGINFO_BYTES = 128;
    private static final int SPAWN_ATTRIBUTES_BYTES = 336;
    private static final int SPAWN_ACTIONS_BYTES = 80;
    private static final int O_WRONLY_CREAT_TRUNC = 01 | 0100 | 01000;
    private static final int OWNER_READS_AND_WRITES = 0600;
    private static final short SPAWN_SET_SIGMASK = 0x08;
    private static final int SIG_BLOCK = 0;
    private static final int P_PID = 1;
    private static final int WEXITED = 4;
    private static final int WNOWAIT = 0x0100_0000;
    private static final int F_SETFD = 2;
    private static final long FD_CLOEXEC = 1;
    private static final long TIOCGWINSZ = 0x5413;
    private static final int SYS_PERF_EVENT_OPEN = 298;
    private static final int PERF_ATTRIBUTES_BYTES = 128;
    private static final int PERF_CLOSE_ON_EXECUTE = 8;
    private static final long SYS_MEMBARRIER = 324;
    private static final long MEMBARRIER_SYNC_CORE = 1 << 5;
    private static final int OWNER = 0700;

    /// Owner permission bits masked by the umask we were started with: they apply to programs we start or
    /// become, not to us.
    private static int ownersUmask;

    static {
        // Any value avoids a run of ldconfig; the bound functions are in this process already.
        System.setProperty("jna.platform.library.path", "/usr/lib");
        Native.register(Posix.class, NativeLibrary.getProcess());
    }

    private Posix() {}

    private static native int isatty(int descriptor);

    private static native int ioctl(int descriptor, NativeLong request, Pointer argument);

    private static native int geteuid();

    private static native int fcntl(int descriptor, int command, NativeLong argument);

    private static native int umask(int mask);

    private static native int kill(int pid, int signal);

    private static native int pthread_sigmask(int how, Pointer set, Pointer old);

    private static native int sigwaitinfo(Pointer set, Pointer info) throws LastErrorException;

    private static native int execve(String path, Pointer argv, Pointer envp) throws LastErrorException;

    private static native int posix_spawnattr_init(Pointer attributes);

    private static native int posix_spawnattr_setsigmask(Pointer attributes, Pointer set);

    private static native int posix_spawnattr_setflags(Pointer attributes, short flags);

    private static native int posix_spawn_file_actions_init(Pointer actions);

    private static native int posix_spawn_file_actions_addopen(
            Pointer actions, int descriptor, String path, int flags, int mode);

    private static native int posix_spawn_file_actions_adddup2(Pointer actions, int descriptor, int as);

    private static native int posix_spawn_file_actions_destroy(Pointer actions);

    private static native int posix_spawnp(
            Pointer pid, Pointer file, Pointer actions, Pointer attributes, Pointer argv, Pointer envp);

    private static native int waitid(int kind, int pid, Pointer info, int options) throws LastErrorException;

    private static native int waitpid(int pid, Pointer status, int options) throws LastErrorException;

    private static native NativeLong syscall(NativeLong number, NativeLong first, NativeLong second, NativeLong third);

    private static native NativeLong syscall(
            NativeLong number, Pointer first, NativeLong second, NativeLong third, NativeLong fourth, NativeLong fifth)
            throws LastErrorException;

    private static native int close(int descriptor);

    private static native String strerror(int error);

    /// A signal and its origin.
    ///
    /// @param sent whether a process sent it to us; the kernel sends those of a terminal to its foreground
    ///     group
    public record Signal(int number, boolean sent) {}

    /// How a process ended.
    ///
    /// @param status of an exit, -1 when it was killed
    /// @param signal that killed it, 0 for none
    public record Ending(int status, int signal) {
        /// As a shell reports it.
        public int shellStatus() {
            return signal == 0 ? status : 128 + signal;
        }
    }

    /// A program could not be started.
    public static final class SpawnException extends IOException {
        private static final long serialVersionUID = 1;
        private final int error;

        SpawnException(int error) {
            super(strerror(error));
            this.error = error;
        }

        public boolean notFound() {
            return error == ENOENT;
        }
    }

    public static boolean isTerminal(int descriptor) {
        return isatty(descriptor) == 1;
    }

    /// Columns of a terminal, 0 if unknown.
    static int columns(int descriptor) {
        Memory size = new Memory(8);
        return ioctl(descriptor, new NativeLong(TIOCGWINSZ), size) == 0 ? size.getShort(2) & 0xffff : 0;
    }

    public static int effectiveUser() {
        return geteuid();
    }

    public static void signal(int pid, int signal) {
        kill(pid, signal);
    }

    /// From now on, files we create are usable by their owner, whatever umask we were started with.
    public static void keepOwnersRights() {
        int given = umask(OWNER);
        ownersUmask = given & OWNER;
        umask(given & ~OWNER);
    }

    /// @return the umask before
    private static int takeOwnersRights() {
        int ours = umask(OWNER);
        umask(ours | ownersUmask);
        return ours;
    }

    /// Whether the kernel has membarrier(2) with SYNC_CORE, which makes other cores see new code.
    public static boolean membarrierSyncCore() {
        NativeLong none = new NativeLong(0);
        long commands =
                syscall(new NativeLong(SYS_MEMBARRIER), none, none, none).longValue();
        return commands > 0 && (commands & MEMBARRIER_SYNC_CORE) != 0;
    }

    /// Whether perf_event_open(2) lets us count an event of our own, in kernel mode, too.
    ///
    /// @param type   `enum perf_type_id`
    /// @param number of the event among those of this type
    /// @return 0, or the error's number
    public static int countingError(int type, int number) {
        Memory attributes = new Memory(PERF_ATTRIBUTES_BYTES);
        attributes.clear();
        attributes.setInt(0, type);
        attributes.setInt(4, PERF_ATTRIBUTES_BYTES);
        attributes.setLong(8, number);
        NativeLong any = new NativeLong(-1);
        try {
            NativeLong descriptor = syscall(
                    new NativeLong(SYS_PERF_EVENT_OPEN),
                    attributes,
                    new NativeLong(0),
                    any,
                    any,
                    new NativeLong(PERF_CLOSE_ON_EXECUTE));
            close(descriptor.intValue());
            return 0;
        } catch (LastErrorException e) {
            return e.getErrorCode();
        }
    }

    /// Blocks signals in the calling thread, and so in the program it executes and the threads it creates.
    public static void block(int... signals) {
        pthread_sigmask(SIG_BLOCK, set(signals), Pointer.NULL);
    }

    /// Waits for one of the signals, which every thread must block.
    public static Signal await(int... signals) {
        Memory info = new Memory(SIGINFO_BYTES);
        Memory set = set(signals);
        while (true) {
            try {
                int number = sigwaitinfo(set, info);
                int code = info.getInt(8);
                return new Signal(number, code <= 0);
            } catch (LastErrorException e) {
                if (e.getErrorCode() != EINTR) {
                    throw e;
                }
            }
        }
    }

    /// Sets close-on-exec: programs that we start or become do not get the descriptor.
    public static void closeOnExecute(int descriptor) {
        fcntl(descriptor, F_SETFD, new NativeLong(FD_CLOEXEC));
    }

    /// Executes another program in our place; returns only on failure.
    public static void execute(Path program, List<byte[]> arguments, List<byte[]> environment)
            throws LastErrorException {
        Strings argv = new Strings(arguments);
        Strings envp = new Strings(environment);
        int ours = takeOwnersRights();
        try {
            execve(program.toString(), argv.pointers, envp.pointers);
        } finally {
            umask(ours);
        }
    }

    /// Starts a program, found along `PATH`, with `unblocked` signals unblocked.
    ///
    /// @param output file for its stdout and stderr, with nothing on its stdin; null to share ours
    /// @return its process id
    public static int spawn(List<byte[]> arguments, List<byte[]> environment, @Nullable Path output, int... unblocked)
            throws SpawnException {
        Memory mask = new Memory(SIGSET_BYTES);
        mask.clear();
        pthread_sigmask(SIG_BLOCK, Pointer.NULL, mask);
        long blocked = mask.getLong(0);
        for (int signal : unblocked) {
            blocked &= ~(1L << signal - 1);
        }
        mask.setLong(0, blocked);
        Memory attributes = new Memory(SPAWN_ATTRIBUTES_BYTES);
        posix_spawnattr_init(attributes);
        posix_spawnattr_setsigmask(attributes, mask);
        posix_spawnattr_setflags(attributes, SPAWN_SET_SIGMASK);
        Strings argv = new Strings(arguments);
        Strings envp = new Strings(environment);
        Memory pid = new Memory(Integer.BYTES);
        Memory actions = new Memory(SPAWN_ACTIONS_BYTES);
        posix_spawn_file_actions_init(actions);
        if (output != null) {
            posix_spawn_file_actions_addopen(actions, 0, "/dev/null", 0, 0);
            posix_spawn_file_actions_addopen(
                    actions, 1, output.toString(), O_WRONLY_CREAT_TRUNC, OWNER_READS_AND_WRITES);
            posix_spawn_file_actions_adddup2(actions, 1, 2);
        }
        int ours = takeOwnersRights();
        int error = posix_spawnp(pid, argv.pointers.getPointer(0), actions, attributes, argv.pointers, envp.pointers);
        umask(ours);
        posix_spawn_file_actions_destroy(actions);
        if (error != 0) {
            throw new SpawnException(error);
        }
        return pid.getInt(0);
    }

    /// Waits until a child has ended without reaping it, so that its process id is not reused.
    public static void awaitEnd(int pid) {
        Memory info = new Memory(SIGINFO_BYTES);
        while (true) {
            try {
                waitid(P_PID, pid, info, WEXITED | WNOWAIT);
                return;
            } catch (LastErrorException e) {
                if (e.getErrorCode() != EINTR) {
                    throw e;
                }
            }
        }
    }

    /// Reaps a child that has ended.
    public static Ending reap(int pid) {
        Memory status = new Memory(Integer.BYTES);
        while (true) {
            try {
                waitpid(pid, status, 0);
                int word = status.getInt(0);
                int signal = word & 0x7f;
                return signal == 0 ? new Ending(word >> 8 & 0xff, 0) : new Ending(-1, signal);
            } catch (LastErrorException e) {
                if (e.getErrorCode() != EINTR) {
                    throw e;
                }
            }
        }
    }

    /// This process's arguments from the `count`-th last on, as the original bytes.
    public static List<byte[]> ownArguments(int count) throws IOException {
        List<byte[]> all = strings(Files.readAllBytes(Path.of("/proc/self/cmdline")));
        return all.subList(all.size() - count, all.size());
    }

    /// All of this process's arguments, including its name.
    public static List<byte[]> ownCommandLine() throws IOException {
        return strings(Files.readAllBytes(Path.of("/proc/self/cmdline")));
    }

    /// The environment that this process was started with.
    public static List<byte[]> ownEnvironment() throws IOException {
        return strings(Files.readAllBytes(Path.of("/proc/self/environ")));
    }

    private static List<byte[]> strings(byte[] terminated) {
        List<byte[]> strings = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < terminated.length; i++) {
            if (terminated[i] == 0) {
                strings.add(Arrays.copyOfRange(terminated, start, i));
                start = i + 1;
            }
        }
        return strings;
    }

    /// The message for an errno value.
    public static String message(int error) {
        return strerror(error);
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Memory set(int... signals) {
        Memory set = new Memory(SIGSET_BYTES);
        set.clear();
        long bits = 0;
        for (int signal : signals) {
            bits |= 1L << signal - 1;
        }
        set.setLong(0, bits);
        return set;
    }

    /// A null-terminated array of C strings, which live as long as this object.
    private static final class Strings {
        final Memory pointers;

        @SuppressWarnings("unused") // keeps the memory that `pointers` leads to
        private final List<Memory> strings = new ArrayList<>();

        Strings(List<byte[]> values) {
            pointers = new Memory((long) Native.POINTER_SIZE * (values.size() + 1));
            for (int i = 0; i < values.size(); i++) {
                byte[] value = values.get(i);
                Memory string = new Memory(value.length + 1L);
                string.write(0, value, 0, value.length);
                string.setByte(value.length, (byte) 0);
                strings.add(string);
                pointers.setPointer((long) Native.POINTER_SIZE * i, string);
            }
            pointers.setPointer((long) Native.POINTER_SIZE * values.size(), Pointer.NULL);
        }
    }
}
