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

/// Runs a program in the place of this one: same descriptors, same terminal, and what is sent to us is passed on to
/// it.
///
/// Assumes    A1 the six signals are blocked in every thread of this process, which [#prepare()] sees to
///            A2 a signal of the terminal goes to the whole foreground group, so the program gets it without us
/// Guarantees G1 a signal sent to us before the program ended reaches it, once; none reaches another process with
///               its id
///            G2 the program starts with the mask and the dispositions that we were started with
///
///   main thread                          forwarding thread
///   1 spawn
///   2 wait for the end, do not reap      take a signal; under the lock, unless ended: send it on
///   3 under the lock: ended, reap        from now on a signal ends this process
///   4 under the lock: closed, wake       return
public final class ChildProcess implements AutoCloseable {
    /// Says that this runtime was started with the signals blocked and `-Xrs`, so that they are ours.
    static final String PREPARED_PROPERTY = "mdl.signals";

    /// The runtime keeps a signal unblocked for itself, by default SIGUSR2. This moves it out of the way.
    private static final String RESERVED_SIGNAL = "_JAVA_SR_SIGNUM";

    private static final String RESERVED_SIGNAL_ELSEWHERE = RESERVED_SIGNAL + "=40";

    /// By this in front of their names the launcher hides variables from our own runtime.
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

    /// Makes the signals ours. A runtime's other threads cannot be told to block them once they run, so where
    /// the launcher has not seen to it, this process executes itself anew with them blocked, and does not return.
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

    /// Notes which descriptors our caller may mean for the program: those that are open before we open any. To be
    /// called first.
    public static void noteDescriptors() {
        openAtStart.addAll(descriptors().keySet());
    }

    /// The runtime does not close its own descriptors when a program is started in another way than its own. Ours are
    /// those opened since the start, and of the others those that lead to the files of the runtime.
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

    /// The open descriptors and what they lead to; without the one that reading the list needs, which is closed when
    /// it is looked at.
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

    /// The environment for the program: ours, without what was set for our own runtime, with what was
    /// hidden from it, and with `changes`.
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
    /// @param output file that its stdout and stderr replace, with nothing on its stdin; null when it shares ours
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

    /// With its id this tells the program from others.
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

    /// Ends the forwarding. At its exit the runtime waits 300 ms for a thread that waits in a system call.
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
                    // What we still do is not worth waiting for.
                    Runtime.getRuntime().halt(128 + signal.number());
                }
                if (signal.sent()) {
                    Posix.signal(pid, signal.number());
                }
            }
        }
    }
}
