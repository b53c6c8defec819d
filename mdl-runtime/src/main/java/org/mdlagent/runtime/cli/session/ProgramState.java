package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.runtime.cli.terminal.Posix;

/// Whether a session's program runs, and how it ended.
public final class ProgramState {
    /// Fields of `/proc/PID/stat`, from 1; the state is the first after the name.
    private static final int STATE = 3;

    private static final int START_TICKS = 22;

    private static final String BOOT_TIME = "btime ";

    /// The kernel's USER_HZ.
    private static final long TICKS_PER_SECOND = 100;

    private ProgramState() {}

    /// Whether the program of a session still runs, and not another process with its id.
    public static boolean runs(SessionFacts session) {
        return session.ended() == null && session.start().equals(start(session.pid()));
    }

    /// The id of the user that a process with the agent runs as; null if that is this user, or if it has no agent.
    static @Nullable Object otherUser(String pid) {
        Path process = Path.of("/proc", pid);
        try {
            Object user = Files.getAttribute(process, "unix:uid");
            boolean other = !user.equals(Posix.effectiveUser());
            String maps = other ? Files.readString(process.resolve("maps"), StandardCharsets.ISO_8859_1) : "";
            return maps.contains("/libmdlagent.so") ? user : null;
        } catch (IOException e) {
            return null; // it may not be looked at, or has ended
        }
    }

    /// The start of an existing process, which may be a zombie; null if there is none.
    public static SessionFacts.@Nullable ProcessStart start(int pid) {
        try {
            String status = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
            // The name before it may contain anything, including parentheses.
            String[] fields = status.substring(status.lastIndexOf(')') + 2).split(" ");
            return new SessionFacts.ProcessStart(boot(), Long.parseLong(fields[START_TICKS - STATE]));
        } catch (IOException e) {
            return null;
        }
    }

    private static String boot() throws IOException {
        return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    }

    /// That time by the current system clock, rounded down to a second; null if the machine has been rebooted
    /// since.
    static @Nullable Instant instantOf(SessionFacts.ProcessStart start) throws IOException {
        if (!start.boot().equals(boot())) {
            return null;
        }
        for (String line : Files.readAllLines(Path.of("/proc/stat"))) {
            if (line.startsWith(BOOT_TIME)) {
                long seconds = Long.parseLong(line.substring(BOOT_TIME.length()));
                return Instant.ofEpochSecond(seconds + start.ticks() / TICKS_PER_SECOND - 1);
            }
        }
        return null;
    }

    /// For `mdl list`.
    public static String describe(SessionFacts facts) {
        if (runs(facts)) {
            return facts.state() == SessionFacts.State.AGENT_DEAD ? "runs, agent failed" : "runs";
        }
        int signal = facts.process().exitSignal().orElse(0);
        if (signal > 0) {
            return "killed by " + signal;
        }
        return facts.process().exitStatus().isPresent()
                ? "exit " + facts.process().exitStatus().getAsInt()
                : "ended";
    }

    /// Writes to a session how its program ended.
    public static void recordEnd(Path session, Posix.Ending ending, Instant when) throws IOException {
        new SharedMemory(SharedMemory.DIRECTORY).write(session, file -> {
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
        });
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
}
