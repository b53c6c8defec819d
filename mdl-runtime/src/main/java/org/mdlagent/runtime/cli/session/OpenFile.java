package org.mdlagent.runtime.cli.session;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.NativeLong;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import org.mdlagent.runtime.cli.terminal.Posix;

/// A file by its descriptor: what was looked at is what is read, written and locked, whatever happens to its name.
///
/// Paths are bytes here, as the kernel has them: a directory's name need not be text in any encoding.
final class OpenFile implements AutoCloseable {
    private static final int AT_FDCWD = -100;
    private static final int O_RDWR = 2;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_DIRECTORY = 0x10000;
    private static final int O_NOFOLLOW = 0x20000;
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_CLOEXEC = 0x80000;
    private static final int O_PATH = 0x200000;
    private static final int F_SETSIG = 10;
    private static final int F_SETLEASE = 1024;
    private static final int F_RDLCK = 0;
    private static final int F_UNLCK = 2;
    private static final int SIGURG = 23;
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;
    private static final int EACCES = 13;
    private static final int EAGAIN = 11;
    private static final int ENOTDIR = 20;
    private static final int FILE_TYPE = 0170000;
    private static final int REGULAR_TYPE = 0100000;
    private static final int SOCKET_TYPE = 0140000;
    private static final int PERMISSIONS = 07777;
    private static final int OWNERS = 0600;
    private static final int PATH_MAX = 4096;

    static {
        Native.register(OpenFile.class, NativeLibrary.getProcess());
    }

    private final int descriptor;
    private final String name;
    private final int owner;
    private final int mode;
    private final long device;
    private final long inode;

    private OpenFile(int descriptor, String name) throws IOException {
        this.descriptor = descriptor;
        this.name = name;
        Map<String, Object> attributes;
        try {
            attributes = Files.readAttributes(self(), "unix:uid,mode,dev,ino");
        } catch (IOException e) {
            close(descriptor);
            throw e;
        }
        owner = number(attributes, "uid").intValue();
        mode = number(attributes, "mode").intValue();
        device = number(attributes, "dev").longValue();
        inode = number(attributes, "ino").longValue();
    }

    private static Number number(Map<String, Object> attributes, String name) {
        if (attributes.get(name) instanceof Number number) {
            return number;
        }
        throw new IllegalStateException("a file without " + name);
    }

    private static native int openat(int directory, byte[] path, int flags, int mode) throws LastErrorException;

    private static native int close(int file);

    private static native int fchmod(int file, int mode) throws LastErrorException;

    private static native int flock(int file, int operation) throws LastErrorException;

    private static native int fcntl(int file, int command, NativeLong argument) throws LastErrorException;

    private static native NativeLong readlinkat(int directory, byte[] path, byte[] target, NativeLong capacity)
            throws LastErrorException;

    private static native int renameat(int from, byte[] name, int to, byte[] newName) throws LastErrorException;

    private static native int unlinkat(int directory, byte[] name, int flags) throws LastErrorException;

    /// A directory, also behind a link.
    static OpenFile directory(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_DIRECTORY, 0, text(path));
    }

    /// A file for reading, never one behind a link.
    static OpenFile readable(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_NOFOLLOW | O_NONBLOCK, 0, text(path));
    }

    /// A file in this directory for reading, never one behind a link.
    OpenFile readable(String file) throws IOException {
        return at(descriptor, Posix.bytes(file), O_NOFOLLOW | O_NONBLOCK, 0, name + "/" + file);
    }

    /// What an entry of this directory is, a link too; neither read nor written.
    OpenFile entry(String entry) throws IOException {
        return at(descriptor, Posix.bytes(entry), O_PATH | O_NOFOLLOW, 0, name + "/" + entry);
    }

    /// A new file in this directory, for its owner alone, whatever the umask.
    OpenFile create(String file) throws IOException {
        OpenFile created = at(descriptor, Posix.bytes(file), O_RDWR | O_CREAT | O_EXCL, OWNERS, name + "/" + file);
        try {
            created.setMode(OWNERS);
            return created;
        } catch (IOException e) {
            created.close();
            throw e;
        }
    }

    private void setMode(int permissions) throws IOException {
        try {
            fchmod(descriptor, permissions);
        } catch (LastErrorException e) {
            throw failure(name, e);
        }
    }

    private static OpenFile at(int directory, byte[] path, int flags, int permissions, String name) throws IOException {
        try {
            return new OpenFile(openat(directory, terminated(path), flags | O_CLOEXEC, permissions), name);
        } catch (LastErrorException e) {
            throw failure(name, e);
        }
    }

    /// Gives an entry of this directory another name, in place of what has it.
    void rename(String from, String to) throws IOException {
        try {
            renameat(descriptor, terminated(Posix.bytes(from)), descriptor, terminated(Posix.bytes(to)));
        } catch (LastErrorException e) {
            throw failure(name + "/" + from, e);
        }
    }

    /// Removes an entry of this directory, which need not be there.
    void remove(String entry) throws IOException {
        remove(descriptor, Posix.bytes(entry), name + "/" + entry);
    }

    /// Removes a file, which need not be there.
    static void remove(byte[] path) throws IOException {
        remove(AT_FDCWD, path, text(path));
    }

    private static void remove(int directory, byte[] path, String name) throws IOException {
        try {
            unlinkat(directory, terminated(path), 0);
        } catch (LastErrorException e) {
            if (e.getErrorCode() != Posix.ENOENT) {
                throw failure(name, e);
            }
        }
    }

    /// Where this leads when it is the entry of a link, else nothing.
    byte[] target() {
        byte[] target = new byte[PATH_MAX];
        try {
            int length = readlinkat(descriptor, new byte[1], target, new NativeLong(PATH_MAX))
                    .intValue();
            return Arrays.copyOf(target, length);
        } catch (LastErrorException e) {
            return new byte[0];
        }
    }

    /// Takes the lock of this file, which its closing gives back: waits while another process has it.
    void lock() throws IOException {
        try {
            flock(descriptor, LOCK_EX);
        } catch (LastErrorException e) {
            throw failure(name, e);
        }
    }

    /// Takes the lock unless another process has it.
    boolean tryLock() throws IOException {
        try {
            flock(descriptor, LOCK_EX | LOCK_NB);
            return true;
        } catch (LastErrorException e) {
            if (e.getErrorCode() == EAGAIN) {
                return false;
            }
            throw failure(name, e);
        }
    }

    /// Whether anybody at all, in this container or another, has this file open for writing, or mapped so. It must be
    /// ours, and open for reading only.
    ///
    /// The kernel gives a lease for reading only on a file that nobody can write to. It is given back at once; who
    /// opens the file in between causes a signal that is ignored.
    boolean isWritten() throws IOException {
        try {
            fcntl(descriptor, F_SETSIG, new NativeLong(SIGURG));
            fcntl(descriptor, F_SETLEASE, new NativeLong(F_RDLCK));
            fcntl(descriptor, F_SETLEASE, new NativeLong(F_UNLCK));
            return false;
        } catch (LastErrorException e) {
            if (e.getErrorCode() == EAGAIN) {
                return true;
            }
            throw failure(name, e);
        }
    }

    /// Whether this is still the file of that path.
    boolean isAt(byte[] path) throws IOException {
        try (OpenFile there = at(AT_FDCWD, path, O_PATH | O_NOFOLLOW, 0, name)) {
            return there.inode == inode && there.device == device;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    boolean isRegular() {
        return (mode & FILE_TYPE) == REGULAR_TYPE;
    }

    boolean isSocket() {
        return (mode & FILE_TYPE) == SOCKET_TYPE;
    }

    boolean isOwn() {
        return owner == Posix.effectiveUser();
    }

    /// Its bytes; to be closed by the caller.
    FileChannel channel(OpenOption... options) throws IOException {
        return FileChannel.open(self(), options);
    }

    /// What is written to a file's bytes.
    interface Writing {
        void to(FileChannel file) throws IOException;
    }

    /// Writes to this file, which is ours, though nobody may write to it.
    void write(Writing writing) throws IOException {
        setMode(OWNERS);
        try (FileChannel bytes = channel(StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            writing.to(bytes);
        } finally {
            setMode(mode & PERMISSIONS);
        }
    }

    private Path self() {
        return Path.of("/proc/self/fd/" + descriptor);
    }

    @Override
    public void close() {
        close(descriptor);
    }

    /// A path as the kernel has it. Of all that the JDK makes of a path only its URI has each byte.
    static byte[] bytes(Path path) {
        String raw = path.toUri().getRawPath();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < raw.length(); i++) {
            if (raw.charAt(i) == '%') {
                bytes.write(Integer.parseInt(raw, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(raw.charAt(i));
            }
        }
        return bytes.toByteArray();
    }

    private static String text(byte[] path) {
        return new String(path, StandardCharsets.UTF_8);
    }

    private static byte[] terminated(byte[] string) {
        return Arrays.copyOf(string, string.length + 1);
    }

    private static IOException failure(String name, LastErrorException e) {
        return switch (e.getErrorCode()) {
            case Posix.ENOENT -> new NoSuchFileException(name);
            case ENOTDIR -> new NotDirectoryException(name);
            case EACCES -> new AccessDeniedException(name);
            default -> new FileSystemException(name, null, Posix.message(e.getErrorCode()));
        };
    }
}
