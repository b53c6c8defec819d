package org.mdlagent.arch.file;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/// An open directory that only this user can change.
///
/// Directories and links created by other users are refused, because in `/tmp` they may create an entry with our
/// name. Links of our own are followed.
public final class OwnDirectory implements AutoCloseable {
    private static final int ROOT = 0;

    private final OpenFile directory;

    private OwnDirectory(OpenFile directory) {
        this.directory = directory;
    }

    /// A directory that is refused. The message is for users.
    public static final class ForeignException extends FileSystemException {
        private static final long serialVersionUID = 1;

        private ForeignException(OpenFile directory) {
            super(directory.name(), null, reason(directory));
        }

        private static String reason(OpenFile directory) {
            return directory.isOwn()
                    ? "others may write to it (chmod go-w)"
                    : "it belongs to another user (uid " + directory.owner() + ")";
        }
    }

    /// @throws NoSuchFileException when there is none
    /// @throws ForeignException    if it is not ours, or others may write to it
    public static OwnDirectory open(Path path) throws IOException {
        byte[] bytes = OpenFile.bytes(path);
        OpenFile entry = OpenFile.place(bytes);
        try {
            if (entry.isOwn() && entry.isLink()) {
                OpenFile link = entry;
                entry = OpenFile.directory(bytes);
                link.close();
            }
            if (!entry.isOwn() || entry.isWritableByOthers()) {
                throw new ForeignException(entry);
            }
            if (!entry.isDirectory()) {
                throw new NotDirectoryException(entry.name());
            }
            return new OwnDirectory(entry);
        } catch (IOException e) {
            entry.close();
            throw e;
        }
    }

    /// Opens a directory and creates missing parents: only in directories that are ours or root's.
    ///
    /// @throws ForeignException if one would have to be created in another user's directory, or if it is not ours
    public static OwnDirectory create(Path path) throws IOException {
        Path absolute = path.toAbsolutePath();
        try {
            return open(absolute);
        } catch (NoSuchFileException e) {
            make(absolute);
            return open(absolute);
        }
    }

    private static void make(Path path) throws IOException {
        Path parent = path.getParent();
        if (parent == null) {
            throw new NoSuchFileException(path.toString());
        }
        if (Files.notExists(parent)) {
            make(parent);
        }
        try (OpenFile existing = OpenFile.directory(OpenFile.bytes(parent))) {
            if (!existing.isOwn() && existing.owner() != ROOT) {
                throw new ForeignException(existing);
            }
            existing.makeDirectory(path);
        }
    }

    /// Opens a regular file of ours in this directory; refuses links.
    ///
    /// @throws NoSuchFileException if there is none
    /// @throws FileSystemException if it is something else
    public OpenFile regular(String name) throws IOException {
        OpenFile file = directory.entry(name);
        if (!file.isRegular() || !file.isOwn()) {
            file.close();
            throw new FileSystemException(file.name(), null, "it is not a regular file of ours");
        }
        return file;
    }

    /// A path that leads here even if its name changes: a prefix of its entries' paths.
    public Path path() {
        return directory.path();
    }

    @Override
    public void close() {
        directory.close();
    }
}
