package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// What files a process sees: two processes with the same mount namespace and root directory find the same file at a
/// path.
///
/// @param namespace inode of `/proc/self/ns/mnt`, 0 when unknown
/// @param rootDevice device of the root directory
/// @param rootInode inode of the root directory
record FileView(long namespace, long rootDevice, long rootInode) {
    /// Of the process that recorded a session.
    ///
    /// @param header the session's
    static FileView of(ByteBuffer header) {
        return new FileView(
                header.getLong((int) HeaderDescriptor.MOUNT_NAMESPACE),
                header.getLong((int) HeaderDescriptor.ROOT_DEVICE),
                header.getLong((int) HeaderDescriptor.ROOT_INODE));
    }

    static FileView ofThisProcess() {
        return new FileView(
                attribute("/proc/self/ns/mnt", "unix:ino"), attribute("/", "unix:dev"), attribute("/", "unix:ino"));
    }

    private static long attribute(String path, String name) {
        try {
            return (long) Files.getAttribute(Path.of(path), name);
        } catch (IOException e) {
            return 0;
        }
    }
}
