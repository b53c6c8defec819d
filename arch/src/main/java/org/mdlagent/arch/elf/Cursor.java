package org.mdlagent.arch.elf;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.Inflater;

/// A read position in a part of a file. Every read is checked against the end of the part.
///
/// Uses plain arrays instead of FFM accessors or buffers: this code runs once, mostly interpreted, where those
/// take three times as long.
final class Cursor {
    /// Maximum string length, so that many names that share one long string cause bounded work.
    private static final int STRING_MAX = 1 << 16;

    private final byte[] bytes;
    private final String file;
    private final String part;

    /// File offset of the first byte.
    private final long offset;

    private int position;
    private final int limit;

    /// @param offset file offset of the first byte
    Cursor(byte[] bytes, String file, String part, long offset) {
        this.bytes = bytes;
        this.file = file;
        this.part = part;
        this.offset = offset;
        this.limit = bytes.length;
    }

    private Cursor(Cursor other, int position, int limit) {
        this.bytes = other.bytes;
        this.file = other.file;
        this.part = other.part;
        this.offset = other.offset;
        this.position = position;
        this.limit = limit;
    }

    /// A copy at the same position.
    Cursor copy() {
        return new Cursor(this, position, limit);
    }

    /// A cursor for the bytes from one position to another.
    Cursor between(long start, long end) throws ElfFormatException {
        if (start < 0 || start > end || end > limit) {
            throw bad("a range inside the part");
        }
        return new Cursor(this, (int) start, (int) end);
    }

    /// A cursor for the next `length` bytes; this one skips them.
    Cursor take(long length) throws ElfFormatException {
        int start = position;
        skip(length);
        return new Cursor(this, start, position);
    }

    /// A cursor over bytes derived from this part.
    Cursor holding(byte[] made, String what) {
        return new Cursor(made, file, what, offset);
    }

    int position() {
        return position;
    }

    /// Moves; a position beyond the end is bad input.
    void position(long at) throws ElfFormatException {
        if (at < 0 || at > limit) {
            throw bad("a position inside the part");
        }
        position = (int) at;
    }

    int limit() {
        return limit;
    }

    int remaining() {
        return limit - position;
    }

    boolean hasRemaining() {
        return position < limit;
    }

    void skip(long length) throws ElfFormatException {
        position += check(length);
    }

    int u8() throws ElfFormatException {
        if (position >= limit) {
            throw shortBy(1);
        }
        return bytes[position++] & 0xff;
    }

    int s8() throws ElfFormatException {
        return (byte) u8();
    }

    int u16() throws ElfFormatException {
        int at = position;
        if (limit - at < 2) {
            throw shortBy(2);
        }
        position = at + 2;
        return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
    }

    int i32() throws ElfFormatException {
        int at = position;
        if (limit - at < 4) {
            throw shortBy(4);
        }
        position = at + 4;
        return intAt(at);
    }

    long u32() throws ElfFormatException {
        return i32() & 0xffff_ffffL;
    }

    long i64() throws ElfFormatException {
        int at = position;
        if (limit - at < 8) {
            throw shortBy(8);
        }
        position = at + 8;
        return longAt(at);
    }

    /// An unsigned LEB128 number (DWARF 5 section 7.6).
    long uleb() throws ElfFormatException {
        long value = 0;
        int shift = 0;
        int b;
        do {
            b = u8();
            if (shift < Long.SIZE) {
                value |= (long) (b & 0x7f) << shift;
            } else if ((b & 0x7f) != 0) {
                throw bad("a LEB128 number of 64 bits");
            }
            shift += 7;
        } while ((b & 0x80) != 0);
        return value;
    }

    /// A signed LEB128 number (DWARF 5 section 7.6).
    long sleb() throws ElfFormatException {
        long value = 0;
        int shift = 0;
        int b;
        do {
            b = u8();
            if (shift < Long.SIZE) {
                value |= (long) (b & 0x7f) << shift;
            }
            shift += 7;
        } while ((b & 0x80) != 0);
        return shift < Long.SIZE && (b & 0x40) != 0 ? value | -1L << shift : value;
    }

    /// Skips a NUL-terminated string; returns whether it was empty.
    boolean skipString() throws ElfFormatException {
        int start = position;
        while (u8() != 0) {}
        return position == start + 1;
    }

    /// The NUL-terminated string at a position; the cursor stays.
    String stringAt(long at) throws ElfFormatException {
        if (at < 0 || at >= limit) {
            throw bad("a string inside the part");
        }
        int length = stringLength((int) at);
        if (at + length == limit || bytes[(int) at + length] != 0) {
            throw bad("a NUL behind the string");
        }
        return text((int) at, length);
    }

    /// The string at a position inside, up to a terminator after its first byte, its NUL, the end of the part, or
    /// a limit.
    String textUntil(byte end, int at) {
        return text(at, lengthUntil(end, at, STRING_MAX));
    }

    /// Length of the string at a position inside, up to a terminator after its first byte, and at most `most`.
    int lengthUntil(byte end, int at, int most) {
        int stop = most < limit - at ? at + most : limit;
        int i = at;
        if (i < stop && bytes[i] != 0) {
            i++;
        }
        while (i > at && i < stop && bytes[i] != 0 && bytes[i] != end) {
            i++;
        }
        return i - at;
    }

    /// Whether a position, which may be the end of the part, has a given byte.
    boolean isAt(int at, byte sought) {
        return at < limit && bytes[at] == sought;
    }

    private int stringLength(int at) {
        int end = at;
        int stop = limit - at > STRING_MAX ? at + STRING_MAX : limit;
        while (end < stop && bytes[end] != 0) {
            end++;
        }
        return end - at;
    }

    private String text(int at, int length) {
        return new String(bytes, at, length, StandardCharsets.UTF_8);
    }

    /// Whether these bytes are at a position, which may be outside.
    boolean holdsAt(long at, byte[] sought) {
        if (at < 0 || at > limit - sought.length) {
            return false;
        }
        int same = 0;
        while (same < sought.length && bytes[(int) at + same] == sought[same]) {
            same++;
        }
        return same == sought.length;
    }

    /// Whether the part contains these bytes.
    boolean holds(byte[] sought) {
        byte[] all = bytes;
        byte first = sought[0];
        int end = limit;
        int at = 0;
        while (at < end && (all[at] != first || !holdsAt(at, sought))) {
            at++;
        }
        return at < end;
    }

    /// A NUL-terminated string.
    static byte[] terminated(String text) {
        return text.concat("\0").getBytes(StandardCharsets.UTF_8);
    }

    /// Reads the rest.
    byte[] rest() {
        int from = position;
        position = limit;
        return Arrays.copyOfRange(bytes, from, limit);
    }

    /// The byte at a position inside.
    int byteAt(int at) {
        return bytes[at] & 0xff;
    }

    /// The word at a position inside.
    int intAt(int at) {
        return bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24;
    }

    /// The word at a position inside.
    long longAt(int at) {
        return intAt(at) & 0xffff_ffffL | (long) intAt(at + 4) << 32;
    }

    /// Passes the remaining bytes to a decompressor.
    void feed(Inflater inflater) {
        inflater.setInput(bytes, position, limit - position);
    }

    ElfFormatException bad(String expected) {
        return new ElfFormatException(file, expected + " in " + part, offset + position);
    }

    private int check(long length) throws ElfFormatException {
        if (length < 0 || length > limit - position) {
            throw shortBy(length);
        }
        return (int) length;
    }

    private ElfFormatException shortBy(long length) {
        return bad(Long.toUnsignedString(length) + " more bytes");
    }
}
