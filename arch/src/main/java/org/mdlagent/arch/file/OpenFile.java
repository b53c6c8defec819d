package org.mdlagent.arch.file;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
import org.mdlagent.arch.file.LibraryCalls.ErrorException;

/// An open file. Checks, reads, writes and locks use its descriptor, so they concern the same file even if the path
/// names another one meanwhile.
///
/// Paths are bytes, as in the kernel: a directory's name need not be text in any encoding.
public final class OpenFile implements AutoCloseable {
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
    private static final int FILE_TYPE = 0170000;
    private static final int REGULAR_TYPE = 0100000;
    private static final int DIRECTORY_TYPE = 0040000;
    private static final int LINK_TYPE = 0120000;
    private static final int SOCKET_TYPE = 0140000;
    private static final int OTHERS_WRITE = 0022;
    private static final int PERMISSIONS = 07777;
    private static final int OWNERS = 0600;
    private static final int OWNERS_DIRECTORY = 0700;
    private static final int PATH_MAX = 4096;

    private static final int SELF = LibraryCalls.effectiveUser();

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
            attributes = Files.readAttributes(path(), "unix:uid,mode,dev,ino");
        } catch (IOException e) {
            close();
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
        throw new IllegalStateException("missing file attribute " + name);
    }

    /// Opens a directory; follows links.
    public static OpenFile directory(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, text(path));
    }

    /// Opens whatever is at a path, even a link, for neither reading nor writing.
    public static OpenFile place(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_PATH | O_NOFOLLOW, 0, text(path));
    }

    /// Opens a file for reading; refuses links.
    public static OpenFile readable(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_NOFOLLOW | O_NONBLOCK, 0, text(path));
    }

    /// Opens a file in this directory for reading; refuses links.
    public OpenFile readable(String file) throws IOException {
        return at(descriptor, bytes(file), O_NOFOLLOW | O_NONBLOCK, 0, name + "/" + file);
    }

    /// Opens an entry of this directory, even a link, for neither reading nor writing.
    public OpenFile entry(String entry) throws IOException {
        return entry(bytes(entry));
    }

    /// The same, by the bytes of its name.
    public OpenFile entry(byte[] entry) throws IOException {
        return at(descriptor, entry, O_PATH | O_NOFOLLOW, 0, name + "/" + text(entry));
    }

    /// Creates a file in this directory, accessible to its owner only, whatever the umask.
    public OpenFile create(String file) throws IOException {
        OpenFile created = at(descriptor, bytes(file), O_RDWR | O_CREAT | O_EXCL, OWNERS, name + "/" + file);
        try {
            created.setMode(OWNERS);
            return created;
        } catch (IOException e) {
            created.close();
            throw e;
        }
    }

    /// Creates a directory in this one, with the last name of a path, accessible to its owner only, unless the
    /// entry exists.
    void makeDirectory(Path path) throws IOException {
        byte[] bytes = bytes(path);
        int slash = bytes.length - 1;
        while (bytes[slash] != '/') {
            slash--;
        }
        try (Arena arena = Arena.ofConfined()) {
            long last = string(arena, Arrays.copyOfRange(bytes, slash + 1, bytes.length));
            LibraryCalls.call(LibraryCalls.MKDIRAT, descriptor, last, OWNERS_DIRECTORY, 0);
        } catch (ErrorException e) {
            if (e.error() != LibraryCalls.EEXIST) {
                throw failure(path.toString(), e);
            }
        }
    }

    private void setMode(int permissions) throws IOException {
        try {
            LibraryCalls.call(LibraryCalls.FCHMOD, descriptor, permissions, 0, 0);
        } catch (ErrorException e) {
            throw failure(name, e);
        }
    }

    private static OpenFile at(int directory, byte[] path, int flags, int permissions, String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return new OpenFile(
                    LibraryCalls.call(
                            LibraryCalls.OPENAT, directory, string(arena, path), flags | O_CLOEXEC, permissions),
                    name);
        } catch (ErrorException e) {
            throw failure(name, e);
        }
    }

    /// Renames an entry of this directory; replaces an existing target.
    public void rename(String from, String to) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            LibraryCalls.call(
                    LibraryCalls.RENAMEAT,
                    descriptor,
                    string(arena, bytes(from)),
                    descriptor,
                    string(arena, bytes(to)));
        } catch (ErrorException e) {
            throw failure(name + "/" + from, e);
        }
    }

    /// Removes an entry of this directory, if it exists.
    public void remove(String entry) throws IOException {
        remove(descriptor, bytes(entry), name + "/" + entry);
    }

    /// Removes a file, if it exists.
    public static void remove(byte[] path) throws IOException {
        remove(AT_FDCWD, path, text(path));
    }

    private static void remove(int directory, byte[] path, String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            LibraryCalls.call(LibraryCalls.UNLINKAT, directory, string(arena, path), 0, 0);
        } catch (ErrorException e) {
            if (e.error() != LibraryCalls.ENOENT) {
                throw failure(name, e);
            }
        }
    }

    /// The target, if this is a link.
    public byte[] target() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(PATH_MAX);
            int length = LibraryCalls.call(
                    LibraryCalls.READLINKAT, descriptor, string(arena, new byte[0]), target.address(), PATH_MAX);
            return target.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        } catch (ErrorException e) {
            return new byte[0];
        }
    }

    /// Locks this file until it is closed; waits while another process holds the lock.
    public void lock() throws IOException {
        try {
            LibraryCalls.call(LibraryCalls.FLOCK, descriptor, LOCK_EX, 0, 0);
        } catch (ErrorException e) {
            throw failure(name, e);
        }
    }

    /// Takes the lock unless another process holds it.
    public boolean tryLock() throws IOException {
        try {
            LibraryCalls.call(LibraryCalls.FLOCK, descriptor, LOCK_EX | LOCK_NB, 0, 0);
            return true;
        } catch (ErrorException e) {
            if (e.error() == LibraryCalls.EAGAIN) {
                return false;
            }
            throw failure(name, e);
        }
    }

    /// Whether any process, in this container or another, has this file open or mapped for writing. It must be
    /// ours, and open for reading only.
    ///
    /// The kernel grants a read lease only if no process has the file open for writing. The lease is returned at
    /// once; an open in between causes a signal, which is ignored.
    public boolean isWritten() throws IOException {
        try {
            LibraryCalls.call(LibraryCalls.FCNTL, descriptor, F_SETSIG, SIGURG, 0);
            LibraryCalls.call(LibraryCalls.FCNTL, descriptor, F_SETLEASE, F_RDLCK, 0);
            LibraryCalls.call(LibraryCalls.FCNTL, descriptor, F_SETLEASE, F_UNLCK, 0);
            return false;
        } catch (ErrorException e) {
            if (e.error() == LibraryCalls.EAGAIN) {
                return true;
            }
            throw failure(name, e);
        }
    }

    /// Whether the path still names this file.
    public boolean isAt(byte[] path) throws IOException {
        try (OpenFile there = at(AT_FDCWD, path, O_PATH | O_NOFOLLOW, 0, name)) {
            return there.inode == inode && there.device == device;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    public boolean isDirectory() {
        return (mode & FILE_TYPE) == DIRECTORY_TYPE;
    }

    public boolean isLink() {
        return (mode & FILE_TYPE) == LINK_TYPE;
    }

    public boolean isRegular() {
        return (mode & FILE_TYPE) == REGULAR_TYPE;
    }

    public boolean isSocket() {
        return (mode & FILE_TYPE) == SOCKET_TYPE;
    }

    public boolean isOwn() {
        return owner == SELF;
    }

    /// A user id.
    public int owner() {
        return owner;
    }

    /// Whether users other than its owner may write to it.
    public boolean isWritableByOthers() {
        return (mode & OTHERS_WRITE) != 0;
    }

    /// The path by which it was opened.
    public String name() {
        return name;
    }

    /// A path that leads here as long as this is open, even if its name changes. For a directory, a prefix of its
    /// entries' paths.
    public Path path() {
        return Path.of("/proc/self/fd/" + descriptor);
    }

    /// An input stream; the caller closes it.
    public FileChannel channel(OpenOption... options) throws IOException {
        return FileChannel.open(path(), options);
    }

    /// An output stream.
    public interface Writing {
        void to(FileChannel file) throws IOException;
    }

    /// Writes to this file of ours, even if its mode forbids it.
    public void write(Writing writing) throws IOException {
        setMode(OWNERS);
        try (FileChannel bytes = channel(StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            writing.to(bytes);
        } finally {
            setMode(mode & PERMISSIONS);
        }
    }

    @Override
    public void close() {
        try {
            LibraryCalls.call(LibraryCalls.CLOSE, descriptor, 0, 0, 0);
        } catch (ErrorException e) {
            // Nothing was written through this descriptor, so ignore the failure.
        }
    }

    /// A path as bytes. Only the JDK's URI form preserves each byte; it also appends a slash to a directory, or to
    /// a link to one, which would then be followed.
    public static byte[] bytes(Path path) {
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
        byte[] all = bytes.toByteArray();
        boolean hasSlash = all.length > 1 && all[all.length - 1] == '/';
        return hasSlash ? Arrays.copyOf(all, all.length - 1) : all;
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] path) {
        return new String(path, StandardCharsets.UTF_8);
    }

    /// Address of a C string.
    private static long string(Arena arena, byte[] bytes) {
        MemorySegment string = arena.allocate(bytes.length + 1L);
        string.copyFrom(MemorySegment.ofArray(bytes));
        return string.address();
    }

    private static IOException failure(String name, ErrorException e) {
        return switch (e.error()) {
            case LibraryCalls.ENOENT -> new NoSuchFileException(name);
            case LibraryCalls.ENOTDIR -> new NotDirectoryException(name);
            case LibraryCalls.EACCES -> new AccessDeniedException(name);
            default -> new FileSystemException(name, null, LibraryCalls.message(e.error()));
        };
    }
}
