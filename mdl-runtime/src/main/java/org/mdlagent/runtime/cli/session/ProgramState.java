package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.runtime.cli.terminal.Posix;

/// Whether the program of a session runs, and how it ended.
public final class ProgramState {
    /// A process that started later than its session, by the clock's inaccuracy, is another one with the same id.
    static final Duration CLOCK_SLACK = Duration.ofSeconds(2);

    private ProgramState() {}

    /// Whether the program of a session still runs.
    public static boolean runs(SessionFacts session) {
        return session.ended() == null
                && ProcessHandle.of(session.pid())
                        .filter(ProcessHandle::isAlive)
                        .flatMap(process -> process.info().startInstant())
                        .filter(start -> !start.isAfter(session.started().plus(CLOCK_SLACK)))
                        .isPresent();
    }

    /// As `mdl list` shows it.
    public static String describe(SessionFacts facts) {
        if (runs(facts)) {
            return facts.state() == SessionFacts.State.AGENT_DEAD ? "runs, agent failed" : "runs";
        }
        int signal = facts.exitSignal().orElse(0);
        if (signal > 0) {
            return "killed by " + signal;
        }
        return facts.exitStatus().isPresent() ? "exit " + facts.exitStatus().getAsInt() : "ended";
    }

    /// Writes how a program ended into its session.
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
