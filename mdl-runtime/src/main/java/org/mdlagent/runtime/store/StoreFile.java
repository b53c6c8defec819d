package org.mdlagent.runtime.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
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
import org.mdlagent.runtime.options.RegularFile;

/// The file of a store, which is never written to once it is there.
///
/// A Chronicle Map that is killed while it is open for writing keeps its locks, and may hold half an entry; one that is
/// killed while it is being made lets whoever opens it next wait for a minute. So nobody but its maker ever sees a map
/// that is written to:
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
///            G2 a file that is damaged is never opened as a map, but told of
///            G3 no symbolic link is followed, and nobody else can read what is here
/// Progress   P1 readers wait for nobody; a writer waits for the writer before it
final class StoreFile {
    private static final String NAME = "profiles";
    private static final String DRAFT = ".new";
    private static final String COPY = ".read";
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<Set<PosixFilePermission>> OWNERS_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /// "mdlstor1", behind the map; then the map's length and its sum.
    private static final long MAGIC = 0x6d646c73746f7231L;

    private static final int TRAILER_BYTES = 24;
    private static final int BLOCK_BYTES = 1 << 18;

    private final Path directory;

    /// @param directory made when something is written
    StoreFile(Path directory) {
        this.directory = directory;
    }

    private Path file() {
        return directory.resolve(NAME);
    }

    /// A file of this process beside the store's.
    private Path own(String suffix) {
        return directory.resolve(NAME + "." + ProcessHandle.current().pid() + suffix);
    }

    /// Copies the map to a file of its own, which the caller removes as soon as it is open.
    ///
    /// @return null when there is no store yet
    /// @throws IOException when it is damaged; the message says what to do
    @Nullable
    Path copy() throws IOException {
        Path copy = own(COPY);
        try (FileChannel in = open(regular(file()), Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
            Files.deleteIfExists(copy);
            try (FileChannel out = create(copy)) {
                copy(in, out);
            } catch (IOException e) {
                Files.deleteIfExists(copy);
                throw e;
            }
            return copy;
        } catch (NoSuchFileException e) {
            return null;
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

    /// That the file cannot be trusted. Sessions that are still there come in again by themselves.
    IOException damaged(String what) {
        return new IOException(file() + ": " + what + "; move it away, and mdl history takes in again the sessions that"
                + " are still there: mv " + file() + " " + file() + ".damaged");
    }

    /// Waits until no other process writes, and makes room for what a writer needs.
    Writing write() throws IOException {
        Files.createDirectories(directory.toAbsolutePath().getParent());
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(directory, OWNERS_DIRECTORY);
        }
        Path lockFile = directory.resolve("lock");
        FileChannel lock = FileChannel.open(
                Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS) ? regular(lockFile) : lockFile,
                Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS),
                OWNER_ONLY);
        try {
            lock.lock();
            return new Writing(lock, removeRemnants());
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    /// Removes the files of processes that have ended; returns the ids of those that were writing.
    private List<String> removeRemnants() throws IOException {
        List<String> writers = new ArrayList<>();
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(directory, NAME + ".*{" + DRAFT + "," + COPY + "}")) {
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
    final class Writing implements AutoCloseable {
        private final FileChannel lock;
        private final List<String> killedWriters;

        private Writing(FileChannel lock, List<String> killedWriters) {
            this.lock = lock;
            this.killedWriters = killedWriters;
        }

        /// Ids of processes that ended while they were writing. What they had is not in the store.
        List<String> killedWriters() {
            return killedWriters;
        }

        /// Where the new map is to be made: there is nothing there.
        Path draft() throws IOException {
            Files.deleteIfExists(own(DRAFT));
            return own(DRAFT);
        }

        /// Makes the draft, which nobody has open any more, the store's file.
        void publish() throws IOException {
            Path draft = own(DRAFT);
            Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
            try (FileChannel map =
                    open(draft, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
                seal(map);
                map.force(true);
            }
            Files.move(draft, file(), StandardCopyOption.ATOMIC_MOVE);
            try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
                names.force(true);
            }
        }

        @Override
        public void close() throws IOException {
            Files.deleteIfExists(own(DRAFT));
            lock.close();
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

    private static Path regular(Path file) throws IOException {
        return RegularFile.of(file, LinkOption.NOFOLLOW_LINKS);
    }

    private static FileChannel open(Path file, Set<OpenOption> options) throws IOException {
        return FileChannel.open(file, options);
    }

    private static FileChannel create(Path file) throws IOException {
        return FileChannel.open(file, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), OWNER_ONLY);
    }
}
