package org.mdlagent.arch.elf;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// The bytes of a file or an array, read in checked parts: a part that is out of bounds, too large or badly
/// compressed is reported as a fault of the file.
final class ElfContent implements AutoCloseable {
    private static final int COMPRESSION_HEADER_SIZE = 24;
    private static final int COMPRESSION_ZLIB = 1;

    /// Deflate expands at most 1032-fold, so a larger claim is invalid.
    private static final long EXPANSION_MAX = 1032;

    /// Maximum size of a part: the agent's heap is small, and useful parts are smaller.
    private static final long PART_MAX = Math.min(Runtime.getRuntime().maxMemory() / 4, Integer.MAX_VALUE - 8);

    /// Size of a cached part of the file, at a multiple of it.
    private static final int WINDOW = 16 * 1024;

    /// Maximum number of cached parts: functions, their callees and their stubs are read alternately.
    private static final int WINDOWS = 64;

    private static final int SMALL = 4 * 1024;

    /// Bytes read at once for a checksum.
    private static final int PIECE = 256 * 1024;

    private final String name;

    /// Exactly one of these two is set.
    private final @Nullable RandomAccessFile content;

    private final byte @Nullable [] bytes;
    private final long size;

    /// So that small parts, such as functions, do not need a system call each.
    private final byte[][] windows = new byte[WINDOWS][0];

    private final long[] windowStarts = new long[WINDOWS];

    private ElfContent(String name, @Nullable RandomAccessFile content, byte @Nullable [] bytes, long size) {
        this.name = name;
        this.content = content;
        this.bytes = bytes;
        this.size = size;
    }

    static ElfContent open(Path path) throws IOException {
        RandomAccessFile content = new RandomAccessFile(path.toString(), "r");
        try {
            return new ElfContent(path.toString(), content, null, content.length());
        } catch (IOException | RuntimeException e) {
            content.close();
            throw e;
        }
    }

    static ElfContent of(String name, byte[] bytes) {
        return new ElfContent(name, null, bytes, bytes.length);
    }

    String name() {
        return name;
    }

    long size() {
        return size;
    }

    /// A part of the file.
    Cursor range(long offset, long length, String part) throws ElfFormatException {
        if (offset < 0 || length < 0 || offset > size - length) {
            throw bad(part + " inside the file", offset);
        }
        if (length > PART_MAX) {
            throw bad(part + " of at most " + PART_MAX + " bytes", offset);
        }
        byte[] read;
        if (content == null) {
            read = Arrays.copyOfRange(bytes, (int) offset, (int) (offset + length));
        } else {
            try {
                read = length > SMALL ? read(offset, (int) length) : readSmall(offset, (int) length);
            } catch (IOException e) {
                throw (ElfFormatException) bad(part + " readable", offset).initCause(e);
            }
        }
        return new Cursor(read, name, part, offset);
    }

    /// Adds a part of the file to a checksum.
    void check(CRC32 sum, long offset, long length, String part) throws ElfFormatException {
        if (offset < 0 || length < 0 || offset > size - length) {
            throw bad(part + " inside the file", offset);
        }
        for (long at = 0; at < length; at += PIECE) {
            byte[] piece =
                    range(offset + at, Math.min(PIECE, length - at), part).rest();
            sum.update(piece, 0, piece.length);
        }
    }

    private byte[] readSmall(long offset, int length) throws IOException {
        long start = offset & -WINDOW;
        int from = (int) (offset - start);
        if (from + length > WINDOW) {
            return read(offset, length);
        }
        int slot = (int) (start / WINDOW % WINDOWS);
        byte[] window = windows[slot];
        if (window.length == 0 || windowStarts[slot] != start) {
            window = read(start, (int) Math.min(WINDOW, size - start));
            windows[slot] = window;
            windowStarts[slot] = start;
        }
        return Arrays.copyOfRange(window, from, from + length);
    }

    private byte[] read(long offset, int length) throws IOException {
        RandomAccessFile file = Objects.requireNonNull(content);
        byte[] read = new byte[length];
        file.seek(offset);
        file.readFully(read);
        return read;
    }

    /// A section whose contents are compressed.
    Cursor expand(Section section, Cursor raw) throws ElfFormatException {
        long offset = section.offset();
        if (section.size() < COMPRESSION_HEADER_SIZE || raw.i32() != COMPRESSION_ZLIB) {
            throw bad("contents compressed with zlib", offset);
        }
        raw.skip(4);
        long expandedSize = raw.i64();
        raw.skip(8);
        if (expandedSize < 0 || expandedSize > PART_MAX || expandedSize > (raw.remaining() + 1) * EXPANSION_MAX) {
            throw bad("an expanded size that is possible", offset + 8);
        }
        byte[] expanded = new byte[(int) expandedSize];
        int length = 0;
        Inflater inflater = new Inflater();
        try {
            raw.feed(inflater);
            int more;
            do {
                more = inflater.inflate(expanded, length, expanded.length - length);
                length += more;
            } while (more > 0 && length < expanded.length);
        } catch (DataFormatException e) {
            throw (ElfFormatException)
                    bad("contents compressed with zlib", offset).initCause(e);
        } finally {
            inflater.end();
        }
        if (length < expanded.length) {
            throw bad("contents that expand to " + expandedSize + " bytes", offset);
        }
        return new Cursor(expanded, name, section.name(), 0);
    }

    ElfFormatException bad(String expected, long offset) {
        return new ElfFormatException(name, expected, offset);
    }

    @Override
    public void close() throws IOException {
        if (content != null) {
            content.close();
        }
    }
}
