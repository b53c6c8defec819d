package org.mdlagent.runtime.cli.run;

import com.sun.jna.LastErrorException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringTokenizer;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.terminal.Posix;

/// Runs a program in place of this process: same descriptors, same terminal, and signals sent to this process
/// are forwarded to it.
///
/// Assumes    A1 the six signals are blocked in every thread of this process ([#prepare()])
///            A2 a signal from the terminal goes to the whole foreground group, so the program gets it without us
/// Guarantees G1 a signal sent to this process before the program ended reaches the program, once; none reaches
///               another process with its id
///            G2 the program starts with the mask and the dispositions that this process was started with
///
///   main thread                          forwarding thread
///   1 spawn
///   2 wait for the end, do not reap      take a signal; under the lock, unless ended: send it on
///   3 under the lock: ended, reap        from now on a signal ends this process
///   4 under the lock: closed, wake       return
public final class ChildProcess implements AutoCloseable {
    /// Set when this runtime was started with the signals blocked and with `-Xrs`, so that it does not handle
    /// them.
    static final String PREPARED_PROPERTY = "mdl.signals";

    /// The JVM keeps one signal unblocked for itself, by default SIGUSR2. This moves it to another one.
    private static final String RESERVED_SIGNAL = "_JAVA_SR_SIGNUM";

    private static final String RESERVED_SIGNAL_ELSEWHERE = RESERVED_SIGNAL + "=40";

    /// Prefix by which the launcher hides variables from our own JVM.
    private static final String HIDDEN = "MDL_GIVEN_";

    private static final int[] FORWARDED = {
        Posix.SIGHUP, Posix.SIGINT, Posix.SIGQUIT, Posix.SIGUSR1, Posix.SIGUSR2, Posix.SIGTERM
    };

    private static final Set<Integer> openAtStart = new HashSet<>();

    private final Object lock = new Object();
    private int pid;
    private SessionFacts.@Nullable ProcessStart processStart;
    private @Nullable Thread forwarding;
    private boolean ended;
    private boolean closed;

    /// Blocks the signals in all threads. A running JVM's other threads cannot be made to block them. So
    /// unless the launcher has done it, this process re-executes itself with the signals blocked, and does
    /// not return.
    static void prepare() throws IOException {
        if (System.getProperty(PREPARED_PROPERTY) != null) {
            return;
        }
        List<byte[]> arguments = new ArrayList<>(Posix.ownCommandLine());
        arguments.addAll(
                1,
                List.of(
                        Posix.bytes("-Xrs"),
                        Posix.bytes("-XX:+DisableAttachMechanism"),
                        Posix.bytes("-D" + PREPARED_PROPERTY + "=blocked")));
        List<byte[]> environment = new ArrayList<>(Posix.ownEnvironment());
        environment.add(Posix.bytes(RESERVED_SIGNAL_ELSEWHERE));
        Posix.block(FORWARDED);
        keepOwnDescriptors();
        try {
            Posix.execute(Path.of("/proc/self/exe").toRealPath(), arguments, environment);
        } catch (LastErrorException e) {
            throw new IOException("mdl cannot start itself anew: " + e.getMessage(), e);
        }
    }

    /// Records which descriptors the caller may have passed for the program: those open before we open any.
    /// To be called first.
    public static void noteDescriptors() {
        openAtStart.addAll(descriptors().keySet());
    }

    /// Sets close-on-exec on our own descriptors, because the JVM closes its own only in programs that it
    /// starts itself. Ours are those opened since the start, and inherited ones that lead to files of the
    /// JVM.
    private static void keepOwnDescriptors() throws IOException {
        List<String> files = new ArrayList<>(List.of("/dev/random", "/dev/urandom"));
        for (String property : List.of("java.class.path", "jdk.module.path")) {
            StringTokenizer entries = new StringTokenizer(System.getProperty(property, ""), File.pathSeparator);
            while (entries.hasMoreTokens()) {
                files.add(Path.of(entries.nextToken())
                        .toAbsolutePath()
                        .normalize()
                        .toString());
            }
        }
        String image = Path.of(System.getProperty("java.home")).toRealPath() + "/";
        descriptors().forEach((number, file) -> {
            boolean ours = !openAtStart.contains(number) || file.startsWith(image) || files.contains(file);
            if (number > 2 && ours) {
                Posix.closeOnExecute(number);
            }
        });
    }

    /// The open descriptors and their targets; without the one used to read the list, which is closed by
    /// then.
    private static Map<Integer, String> descriptors() {
        Map<Integer, String> open = new HashMap<>();
        String[] numbers = new File("/proc/self/fd").list();
        for (String number : numbers == null ? new String[0] : numbers) {
            try {
                Path file = Files.readSymbolicLink(Path.of("/proc/self/fd", number));
                open.put(Integer.valueOf(number), file.toString());
            } catch (IOException e) {
                // closed
            }
        }
        return open;
    }

    /// The environment for the program: ours, without the variables set for our JVM, with those hidden from
    /// it, and with `changes`.
    ///
    /// @param changes names and values
    static List<byte[]> environment(List<byte[]> ours, List<String[]> changes) {
        List<byte[]> environment = new ArrayList<>();
        for (byte[] entry : ours) {
            boolean kept = !startsWith(entry, RESERVED_SIGNAL + "=");
            for (String[] change : changes) {
                kept &= !startsWith(entry, change[0] + "=");
            }
            if (kept) {
                environment.add(
                        startsWith(entry, HIDDEN) ? Arrays.copyOfRange(entry, HIDDEN.length(), entry.length) : entry);
            }
        }
        for (String[] change : changes) {
            environment.add(Posix.bytes(change[0] + "=" + change[1]));
        }
        return environment;
    }

    private static boolean startsWith(byte[] entry, String prefix) {
        byte[] bytes = Posix.bytes(prefix);
        return entry.length >= bytes.length && Arrays.equals(entry, 0, bytes.length, bytes, 0, bytes.length);
    }

    /// Starts the program.
    ///
    /// @param output file for its stdout and stderr, with nothing on its stdin; null to share ours
    void start(List<byte[]> arguments, List<byte[]> environment, @Nullable Path output) throws IOException {
        keepOwnDescriptors();
        pid = Posix.spawn(arguments, environment, output, FORWARDED);
        processStart = ProgramState.start(pid);
        Thread thread = new Thread(this::forward, "mdl-signals");
        thread.setDaemon(true);
        thread.start();
        forwarding = thread;
    }

    int pid() {
        return pid;
    }

    /// With the process id, this identifies the program.
    SessionFacts.@Nullable ProcessStart processStart() {
        return processStart;
    }

    /// Waits for the program's end.
    Posix.Ending await() {
        Posix.awaitEnd(pid);
        synchronized (lock) {
            ended = true;
            return Posix.reap(pid);
        }
    }

    /// Ends forwarding. Otherwise the JVM would wait at exit for 300 ms for the thread in its system call.
    @Override
    public void close() {
        Thread thread = forwarding;
        if (thread == null) {
            return;
        }
        synchronized (lock) {
            closed = true;
        }
        Posix.signal((int) ProcessHandle.current().pid(), FORWARDED[0]);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void forward() {
        while (true) {
            Posix.Signal signal = Posix.await(FORWARDED);
            synchronized (lock) {
                if (closed) {
                    return;
                }
                if (ended) {
                    // Our remaining work is not worth waiting for.
                    Runtime.getRuntime().halt(128 + signal.number());
                }
                if (signal.sent()) {
                    Posix.signal(pid, signal.number());
                }
            }
        }
    }
}
