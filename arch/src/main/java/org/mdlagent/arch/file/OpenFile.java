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

/// A file by its descriptor: what was looked at is what is read, written and locked, whatever happens to its name.
///
/// Paths are bytes here, as the kernel has them: a directory's name need not be text in any encoding.
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
        throw new IllegalStateException("a file without " + name);
    }

    /// A directory, also behind a link.
    public static OpenFile directory(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, text(path));
    }

    /// What is at a path, a link too; neither read nor written.
    public static OpenFile place(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_PATH | O_NOFOLLOW, 0, text(path));
    }

    /// A file for reading, never one behind a link.
    public static OpenFile readable(byte[] path) throws IOException {
        return at(AT_FDCWD, path, O_NOFOLLOW | O_NONBLOCK, 0, text(path));
    }

    /// A file in this directory for reading, never one behind a link.
    public OpenFile readable(String file) throws IOException {
        return at(descriptor, bytes(file), O_NOFOLLOW | O_NONBLOCK, 0, name + "/" + file);
    }

    /// What an entry of this directory is, a link too; neither read nor written.
    public OpenFile entry(String entry) throws IOException {
        return entry(bytes(entry));
    }

    /// The same by its name's bytes.
    public OpenFile entry(byte[] entry) throws IOException {
        return at(descriptor, entry, O_PATH | O_NOFOLLOW, 0, name + "/" + text(entry));
    }

    /// A new file in this directory, for its owner alone, whatever the umask.
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

    /// Makes a directory in this one, with the last name of a path, for its owner alone, unless there is something.
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

    /// Gives an entry of this directory another name, in place of what has it.
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

    /// Removes an entry of this directory, which need not be there.
    public void remove(String entry) throws IOException {
        remove(descriptor, bytes(entry), name + "/" + entry);
    }

    /// Removes a file, which need not be there.
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

    /// Where this leads when it is the entry of a link, else nothing.
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

    /// Takes the lock of this file, which its closing gives back: waits while another process has it.
    public void lock() throws IOException {
        try {
            LibraryCalls.call(LibraryCalls.FLOCK, descriptor, LOCK_EX, 0, 0);
        } catch (ErrorException e) {
            throw failure(name, e);
        }
    }

    /// Takes the lock unless another process has it.
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

    /// Whether anybody at all, in this container or another, has this file open for writing, or mapped so. It must be
    /// ours, and open for reading only.
    ///
    /// The kernel gives a lease for reading only on a file that nobody can write to. It is given back at once; who
    /// opens the file in between causes a signal that is ignored.
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

    /// Whether this is still the file of that path.
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

    /// Whether others than its owner may write to it.
    public boolean isWritableByOthers() {
        return (mode & OTHERS_WRITE) != 0;
    }

    /// As it was opened.
    public String name() {
        return name;
    }

    /// A path that leads here as long as this is open, whatever its name leads to. Of a directory it is the beginning
    /// of its entries' paths.
    public Path path() {
        return Path.of("/proc/self/fd/" + descriptor);
    }

    /// Its bytes; to be closed by the caller.
    public FileChannel channel(OpenOption... options) throws IOException {
        return FileChannel.open(path(), options);
    }

    /// What is written to a file's bytes.
    public interface Writing {
        void to(FileChannel file) throws IOException;
    }

    /// Writes to this file, which is ours, though nobody may write to it.
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
            // It is closed all the same: nothing was written by this descriptor.
        }
    }

    /// A path as the kernel has it. Of all that the JDK makes of a path only its URI has each byte, and a slash behind
    /// what is a directory, or a link to one, which would be followed.
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
