package org.mdlagent.runtime.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.runtime.cli.session.ProgramState;

/// A session without functions, as an agent leaves it that came no further.
public final class FakeSession {
    public static final int SIZE = 1 << 20;

    private FakeSession() {}

    /// @param pid of a process that is there, which it is then the session of, or of none
    public static byte[] bytes(String id, long pid, long startSeconds) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong((int) HeaderDescriptor.MAGIC_AT, HeaderDescriptor.MAGIC);
        bytes.putInt((int) HeaderDescriptor.VERSION_AT, HeaderDescriptor.VERSION);
        bytes.putInt((int) HeaderDescriptor.HEADER_SIZE, (int) HeaderDescriptor.SIZE);
        bytes.putLong((int) HeaderDescriptor.BASE, 0x7000_0000_0000L);
        bytes.putLong((int) HeaderDescriptor.ARENA_END, SIZE);
        bytes.putInt((int) HeaderDescriptor.PID, (int) pid);
        SessionFacts.ProcessStart start = ProgramState.start((int) pid);
        if (start != null) {
            bytes.putLong((int) HeaderDescriptor.START_TICKS, start.ticks());
            bytes.put((int) HeaderDescriptor.BOOT, start.boot().getBytes(StandardCharsets.UTF_8));
        }
        bytes.putInt((int) HeaderDescriptor.STATE, HeaderDescriptor.STATE_ARMED);
        bytes.putLong((int) HeaderDescriptor.START_REAL_NANOS, startSeconds * 1_000_000_000);
        bytes.putInt((int) HeaderDescriptor.EXIT_STATUS, -1);
        bytes.putLong((int) HeaderDescriptor.MOUNT_NAMESPACE, inode("/proc/self/ns/mnt"));
        bytes.putLong((int) HeaderDescriptor.ROOT_DEVICE, (long) Files.getAttribute(Path.of("/"), "unix:dev"));
        bytes.putLong((int) HeaderDescriptor.ROOT_INODE, inode("/"));
        bytes.put((int) HeaderDescriptor.PROGRAM, "/bin/app".getBytes(StandardCharsets.UTF_8));
        bytes.put((int) HeaderDescriptor.ID, id.getBytes(StandardCharsets.UTF_8));
        // Something behind a hole: a copy must keep both.
        bytes.put(SIZE - 5000, (byte) 42);
        return bytes.array();
    }

    private static long inode(String path) throws IOException {
        return (long) Files.getAttribute(Path.of(path), "unix:ino");
    }

    /// A finished session in `root/id`.
    public static Path in(Path root, String id, long pid, long startSeconds) throws IOException {
        Path directory = Files.createDirectories(root.resolve(id));
        Files.write(directory.resolve("session.mdl"), bytes(id, pid, startSeconds));
        return directory;
    }
}
