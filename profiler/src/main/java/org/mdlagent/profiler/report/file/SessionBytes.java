package org.mdlagent.profiler.report.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// The bytes of a session file, by offset; every access is checked against the file's bounds.
///
/// The file is read, not mapped: access to a mapped file that has been truncated raises SIGBUS, and reading a
/// hole of a mapped tmpfs file allocates memory. Blocks are cached until [#refresh()], so data is never older
/// than that.
///
/// Structures in a well-formed file never overlap, so the sizes of all visited structures add up to at most
/// the file's size. [#claim] refuses more, which bounds the work that a damaged file can cause.
public final class SessionBytes implements AutoCloseable {
    private static final String DAMAGED = "the session is damaged: ";

    /// Upper limit of a plausible counter: ten years of ticks.
    private static final long COUNTER_MAX = 1L << 60;

    /// Small, because rows are laid out in order of first call but read in order of number: with 40,000
    /// functions, blocks of 16 pages were read over and over.
    private static final int BLOCK_SHIFT = 12;

    private static final int BLOCK = 1 << BLOCK_SHIFT;
    private static final int BLOCKS = 2048;
    private static final int STRING_BYTES_MAX = 1 << 16;

    private final Path file;
    private final FunctionNames names;
    private final FileChannel channel;
    private final @Nullable ByteBuffer[] blocks = new ByteBuffer[BLOCKS];
    private final long[] blockNumbers = new long[BLOCKS];

    /// By offset. Strings never change or move, so they are kept for good.
    private final Map<Integer, String> strings = new HashMap<>();

    private long base;
    private long end;
    private long claimed;

    /// Opens the session in a directory, or a session file.
    ///
    /// @param names for functions that were recorded without one
    public SessionBytes(Path directoryOrFile, FunctionNames names) throws IOException {
        file = SessionFile.shown(directoryOrFile);
        this.names = names;
        try (OpenFile opened = SessionFile.open(directoryOrFile)) {
            channel = opened.channel(StandardOpenOption.READ);
        }
    }

    /// The directory of the session file.
    public Path directory() {
        return file.toAbsolutePath().resolveSibling("");
    }

    /// Drops cached blocks, checks the header again, and resets the claims.
    public void refresh() throws IOException {
        Arrays.fill(blockNumbers, -1);
        claimed = 0;
        long size = channel.size();
        if (size < HeaderDescriptor.SIZE) {
            throw damaged(size + " bytes are too few for the header of a session");
        }
        end = HeaderDescriptor.SIZE;
        if (getLong(HeaderDescriptor.MAGIC_AT) != HeaderDescriptor.MAGIC) {
            throw new SessionFormatException(
                    file, "this is not a session of mdl", "give a session's directory, or its session.mdl");
        }
        int version = getInt(HeaderDescriptor.VERSION_AT);
        if (version != HeaderDescriptor.VERSION) {
            throw new SessionFormatException(
                    file,
                    "the session has format version " + Integer.toUnsignedString(version)
                            + ", and this program reads version " + HeaderDescriptor.VERSION,
                    "use the mdl that recorded it");
        }
        int headerSize = getInt(HeaderDescriptor.HEADER_SIZE);
        if (headerSize != HeaderDescriptor.SIZE) {
            throw damaged("its header claims " + Integer.toUnsignedString(headerSize) + " bytes instead of "
                    + HeaderDescriptor.SIZE);
        }
        base = getLong(HeaderDescriptor.BASE);
        end = endOfArena();
        claim(HeaderDescriptor.SIZE);
    }

    /// Reads the arena's end from the file, not from a cached block: a live session grows while it is read.
    private long endOfArena() throws IOException {
        ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        readFully(word, HeaderDescriptor.ARENA_END);
        long arenaEnd = word.getLong(0);
        long size = channel.size();
        if (arenaEnd < HeaderDescriptor.SIZE) {
            throw damaged("its data end inside the header, at " + Long.toUnsignedString(arenaEnd));
        }
        if (arenaEnd > size) {
            throw damaged("it is truncated: " + size + " bytes of " + arenaEnd);
        }
        return arenaEnd;
    }

    public FunctionNames names() {
        return names;
    }

    /// Offset one past the last readable byte.
    public long end() {
        return end;
    }

    /// The offset of an address in the owning process, checked so that `size` bytes are inside the file.
    public long offset(long address, long size, String what) throws IOException {
        return checked(address - base, size, Long.BYTES, what);
    }

    private long checked(long offset, long size, int alignment, String what) throws IOException {
        if (offset < HeaderDescriptor.SIZE || size < 0 || offset % alignment != 0) {
            throw damaged(what + " is at an impossible place, " + offset);
        }
        if (offset > end - size) {
            end = endOfArena();
            if (offset > end - size) {
                throw damaged(what + " reaches beyond the end, " + offset + " + " + size + " > " + end);
            }
        }
        return offset;
    }

    /// Whether structures overlap, so that reading on would be unbounded.
    public boolean overlaps() {
        return claimed > end;
    }

    /// Accounts for `bytes` of a structure; each structure is claimed once.
    public void claim(long bytes) throws IOException {
        claimed += bytes;
        if (claimed > end) {
            end = endOfArena();
            if (claimed > end) {
                throw damaged("its structures overlap");
            }
        }
    }

    public long getLong(long offset) throws IOException {
        return block(offset).getLong((int) (offset & (BLOCK - 1)));
    }

    /// Fills `into` with the longs from `offset` on, which must be a multiple of their size.
    public void getLongs(long offset, long[] into) throws IOException {
        for (int filled = 0; filled < into.length; ) {
            long at = offset + (long) filled * Long.BYTES;
            int from = (int) (at & (BLOCK - 1)) / Long.BYTES;
            int count = Math.min(into.length - filled, BLOCK / Long.BYTES - from);
            block(at).clear().asLongBuffer().get(from, into, filled, count);
            filled += count;
        }
    }

    private byte[] getBytes(long offset, int length) throws IOException {
        byte[] bytes = new byte[length];
        for (int filled = 0; filled < length; ) {
            int from = (int) ((offset + filled) & (BLOCK - 1));
            int count = Math.min(length - filled, BLOCK - from);
            block(offset + filled).get(from, bytes, filled, count);
            filled += count;
        }
        return bytes;
    }

    public int getInt(long offset) throws IOException {
        return block(offset).getInt((int) (offset & (BLOCK - 1)));
    }

    public double getDouble(long offset) throws IOException {
        return Double.longBitsToDouble(getLong(offset));
    }

    /// The current bytes of `[offset, offset + length)`, little-endian.
    public ByteBuffer copy(long offset, int length) throws IOException {
        ByteBuffer copy = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        readFully(copy, offset);
        return copy;
    }

    /// The NUL-terminated string in a field of `capacity` bytes.
    public String text(long offset, int capacity) throws IOException {
        byte[] bytes = copy(offset, capacity).array();
        int length = 0;
        while (length < capacity && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /// The `struct mdl_string` at `offset`; "" if that is 0.
    public String string(int offset) throws IOException {
        if (offset == 0) {
            return "";
        }
        String known = strings.get(offset);
        if (known == null) {
            known = readString(offset);
            strings.put(offset, known);
        }
        return known;
    }

    private String readString(int offset) throws IOException {
        long at = checked(Integer.toUnsignedLong(offset), Integer.BYTES, Integer.BYTES, "a name");
        int length = getInt(at);
        if (length < 0 || length > STRING_BYTES_MAX) {
            throw damaged("a name claims " + Integer.toUnsignedString(length) + " bytes");
        }
        claim(Integer.BYTES + length);
        return new String(getBytes(checked(at + Integer.BYTES, length, 1, "a name"), length), StandardCharsets.UTF_8);
    }

    /// Offsets of the members of a linked list, in order.
    ///
    /// @param head      offset of the address of the first member
    /// @param nextField offset, in a member, of the address of the next one
    public List<Long> list(long head, long nextField, long size, int most, String what) throws IOException {
        List<Long> members = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        long next = getLong(head);
        while (next != 0) {
            long member = offset(next, size, "one of its " + what);
            if (!seen.add(member) || members.size() == most) {
                throw damaged("its list of " + what + " has no end");
            }
            claim(size);
            members.add(member);
            next = getLong(member + nextField);
        }
        return members;
    }

    /// The number of used rows of a table.
    public int count(long countField, long capacityField, String what) throws IOException {
        return checkedCount(getInt(countField), getInt(capacityField), what);
    }

    /// A row count, checked against the capacity.
    public int checkedCount(int count, int capacity, String what) throws IOException {
        if (count < 0 || capacity < count) {
            throw damaged("it claims " + Integer.toUnsignedString(count) + " " + what + ", with room for "
                    + Integer.toUnsignedString(capacity));
        }
        return count;
    }

    /// The enum constant whose ordinal is in a field.
    public <E extends Enum<E>> E constant(E[] values, long field, String what) throws IOException {
        int value = getInt(field);
        if (value < 0 || value >= values.length) {
            throw damaged("it has the unknown " + what + " " + Integer.toUnsignedString(value));
        }
        return values[value];
    }

    /// A counter that only grows from 0.
    public long getCounter(long offset) throws IOException {
        return counted(getLong(offset));
    }

    /// Whether a value is plausible for a counter.
    public boolean isPossible(long value) {
        return value >= 0 && value <= COUNTER_MAX;
    }

    /// A counter's value, checked to be plausible.
    public long counted(long value) throws SessionFormatException {
        if (!isPossible(value)) {
            throw damaged("a counter holds " + Long.toUnsignedString(value));
        }
        return value;
    }

    /// The message for figures that are left out because of damage.
    public static String reason(Exception damage) {
        return damage instanceof SessionFormatException e
                ? e.what().substring(e.what().startsWith(DAMAGED) ? DAMAGED.length() : 0)
                : "its counts are beyond all bounds";
    }

    public SessionFormatException damaged(String what) {
        return new SessionFormatException(
                file, DAMAGED + what, "run the program again, or restore the file from a copy");
    }

    private ByteBuffer block(long offset) throws IOException {
        long number = offset >>> BLOCK_SHIFT;
        int slot = (int) (number & (BLOCKS - 1));
        ByteBuffer block = blocks[slot];
        if (block == null) {
            block = ByteBuffer.allocate(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
            blocks[slot] = block;
            blockNumbers[slot] = -1;
        }
        if (blockNumbers[slot] != number) {
            blockNumbers[slot] = -1;
            long start = number << BLOCK_SHIFT;
            block.clear();
            while (block.hasRemaining() && channel.read(block, start + block.position()) > 0) {}
            Arrays.fill(block.array(), block.position(), BLOCK, (byte) 0);
            blockNumbers[slot] = number;
        }
        return block;
    }

    private void readFully(ByteBuffer into, long offset) throws IOException {
        while (into.hasRemaining()) {
            if (channel.read(into, offset + into.position()) < 0) {
                throw damaged("it became shorter while it was read");
            }
        }
        into.flip();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
