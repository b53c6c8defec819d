package org.mdlagent.runtime.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.file.OwnDirectory;

/// The file of a store. It is never modified, only replaced.
///
/// If a process is killed while it writes to a Chronicle Map, the map keeps its locks and may contain half an
/// entry; if it is killed while creating one, the next process that opens the map waits for a minute. So only its
/// creator ever sees a map that is being written:
///
///   writer                                         reader
///   1 lock `lock`, remove what a killed one left
///   2 read `profiles` as readers do                a copy `profiles` to a file of its own, check the sum
///   3 make a new map in a file of its own          b open the map there: its locks are in it, too
///   4 append the sum, write all to the disk        c remove the name
///   5 rename it to `profiles`
///
/// Assumes    A1 a rename within a directory is atomic (POSIX)
///            A2 a lock ends with the process that has it
/// Guarantees G1 at any moment `profiles` is whole: what it was before a writer, or what the writer has made
///            G2 a file that is damaged, or names classes that a map of ours does not ([MapHeader]), is never opened as
///               a map, but told of
///            G3 nothing is read from, made in or removed from a directory that is not this user's alone; all names in
///               it are looked up from its descriptor, and no symbolic link there is followed
/// Progress   P1 readers wait for nobody; a writer waits for the writer before it
final class StoreFile {
    private static final String NAME = "profiles";
    private static final String LOCK = "lock";
    private static final String DRAFT = ".new";
    private static final String COPY = ".read";
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /// "mdlstor1", after the map; then the map's length and checksum.
    private static final long MAGIC = 0x6d646c73746f7231L;

    private static final int TRAILER_BYTES = 24;
    private static final int BLOCK_BYTES = 1 << 18;

    private final Path directory;

    /// @param directory created on the first write
    StoreFile(Path directory) {
        this.directory = directory;
    }

    private Path file() {
        return directory.resolve(NAME);
    }

    /// A file of this process in the store's directory.
    private static Path own(OwnDirectory directory, String suffix) {
        return directory.path().resolve(NAME + "." + ProcessHandle.current().pid() + suffix);
    }

    /// A private copy of the map, removed once it is open, or when this is closed.
    static final class Copy implements AutoCloseable {
        private final OwnDirectory directory;
        private final Path path;

        private Copy(OwnDirectory directory) {
            this.directory = directory;
            path = own(directory, COPY);
        }

        Path path() {
            return path;
        }

        void remove() throws IOException {
            Files.deleteIfExists(path);
        }

        @Override
        public void close() throws IOException {
            try (directory) {
                remove();
            }
        }
    }

    /// Copies the map.
    ///
    /// @return null if there is no store yet
    /// @throws IOException if it is damaged, or another user's; the message says what to do
    @Nullable
    Copy copy() throws IOException {
        try {
            Copy copy = new Copy(OwnDirectory.open(directory));
            try {
                copyTo(copy);
                return copy;
            } catch (IOException e) {
                copy.close();
                throw e;
            }
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void copyTo(Copy copy) throws IOException {
        try (OpenFile map = copy.directory.regular(NAME);
                FileChannel in = map.channel(StandardOpenOption.READ)) {
            copy.remove();
            try (FileChannel out = create(copy.path)) {
                copy(in, out);
            }
        }
    }

    private void copy(FileChannel in, FileChannel out) throws IOException {
        long length = in.size() - TRAILER_BYTES;
        ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES);
        while (length >= 0 && trailer.hasRemaining() && in.read(trailer, length + trailer.position()) > 0) {}
        trailer.flip();
        if (trailer.remaining() < TRAILER_BYTES || trailer.getLong() != MAGIC || trailer.getLong() != length) {
            throw damaged("its end is missing");
        }
        CRC32C sum = new CRC32C();
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
        for (long at = 0; at < length; at += block.limit()) {
            block.clear().limit((int) Math.min(BLOCK_BYTES, length - at));
            while (block.hasRemaining() && in.read(block, at + block.position()) > 0) {}
            if (block.hasRemaining()) {
                throw damaged("it became shorter while it was read");
            }
            sum.update(block.flip());
            block.rewind();
            while (block.hasRemaining()) {
                out.write(block, at + block.position());
            }
        }
        if (trailer.getLong() != sum.getValue()) {
            throw damaged("its contents and their sum differ");
        }
    }

    /// Reports a damaged file. Existing sessions are added again automatically.
    IOException damaged(String what) {
        return new IOException(file() + ": " + what + "; move it away, and mdl history takes in again the sessions that"
                + " are still there: mv " + file() + " " + file() + ".damaged");
    }

    /// Waits until no other process writes, and removes leftovers.
    Writing write() throws IOException {
        OwnDirectory opened = OwnDirectory.create(directory);
        try {
            FileChannel lock = lock(opened);
            try {
                lock.lock();
                return new Writing(opened, lock, removeRemnants(opened));
            } catch (IOException e) {
                lock.close();
                throw e;
            }
        } catch (IOException e) {
            opened.close();
            throw e;
        }
    }

    private static FileChannel lock(OwnDirectory directory) throws IOException {
        try (OpenFile lock = directory.regular(LOCK)) {
            return lock.channel(StandardOpenOption.WRITE);
        } catch (NoSuchFileException e) {
            return FileChannel.open(
                    directory.path().resolve(LOCK),
                    Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS),
                    OWNER_ONLY);
        }
    }

    /// Removes files of ended processes; returns the ids of those that were writing.
    private static List<String> removeRemnants(OwnDirectory directory) throws IOException {
        List<String> writers = new ArrayList<>();
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(directory.path(), NAME + ".*{" + DRAFT + "," + COPY + "}")) {
            for (Path file : files) {
                String[] parts = file.getFileName().toString().split("\\.", -1);
                if (Files.notExists(Path.of("/proc", parts[1]))) {
                    Files.deleteIfExists(file);
                    if (file.toString().endsWith(DRAFT)) {
                        writers.add(parts[1]);
                    }
                }
            }
        }
        return writers;
    }

    /// The right to replace the file.
    static final class Writing implements AutoCloseable {
        private final OwnDirectory directory;
        private final FileChannel lock;
        private final List<String> killedWriters;

        private Writing(OwnDirectory directory, FileChannel lock, List<String> killedWriters) {
            this.directory = directory;
            this.lock = lock;
            this.killedWriters = killedWriters;
        }

        /// Ids of processes that ended while writing. Their runs are not in the store.
        List<String> killedWriters() {
            return killedWriters;
        }

        /// Path of the new map, which does not exist yet.
        Path draft() throws IOException {
            Path draft = own(directory, DRAFT);
            Files.deleteIfExists(draft);
            return draft;
        }

        /// Replaces the store's file by the closed draft.
        void publish() throws IOException {
            Path draft = own(directory, DRAFT);
            Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
            try (FileChannel map = FileChannel.open(
                    draft, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
                seal(map);
                map.force(true);
            }
            Files.move(draft, directory.path().resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
            try (FileChannel names = FileChannel.open(directory.path(), StandardOpenOption.READ)) {
                names.force(true);
            }
        }

        @Override
        public void close() throws IOException {
            try (directory;
                    lock) {
                Files.deleteIfExists(own(directory, DRAFT));
            }
        }
    }

    private static void seal(FileChannel map) throws IOException {
        long length = map.size();
        CRC32C sum = new CRC32C();
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
        for (long at = 0; map.read(block.clear(), at) > 0; at += block.limit()) {
            sum.update(block.flip());
        }
        ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES);
        trailer.putLong(MAGIC).putLong(length).putLong(sum.getValue()).flip();
        while (trailer.hasRemaining()) {
            map.write(trailer, length + trailer.position());
        }
    }

    private static FileChannel create(Path file) throws IOException {
        return FileChannel.open(file, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), OWNER_ONLY);
    }
}
