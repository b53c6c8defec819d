package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.site.StackUse.Reason;

/// What was found out about the pieces of one file's code from the file's content alone, and what [KeptFacts] keeps of
/// it. A piece is a range of the unwind tables. Facts that depend on other files are not among them.
///
///     i64 MAGIC   i64 checksum of the file   i32 pieces
///     u8 look of each piece: 0 unknown, 1 harmless, 2 and above a Reason
///     u8 shape of each piece: 0 unknown, 1 and above what its user has noted
///     u8 whether the data are a table of return addresses: 0 unknown, 1 no, 2 yes
///     i64 question about cold parts   i32 words, each: i64, a BitSet
///     i32 names, each: u16 length, bytes
///     i32 pieces that lead on, each: i32 piece, u16 siblings, u16 imports, i32 pieces, i32 names
///     i32 CRC-32 of all before
final class ImageFacts {
    /// Where they are from.
    interface Source {
        /// The facts about a file; null if none can be kept.
        ///
        /// @param pieces how many ranges its unwind tables have
        @Nullable
        ImageFacts of(ElfFile elf, int pieces) throws IOException;
    }

    private static final long MAGIC = 0x3130_7463_6166_6C64L;
    private static final int HEAD = 2 * Long.BYTES + Integer.BYTES;
    private static final int FIXED = HEAD + 1 + Long.BYTES + 4 * Integer.BYTES;
    private static final int[] NONE = {};

    /// Facts are written anew when there are this many times fewer new ones than known ones at most.
    private static final int KNOWN_PER_NEW = 8;

    private static final Reason[] REASONS = Reason.values();

    private final long checksum;
    private final byte[] looks;
    private final byte[] shapes;
    private final Map<Integer, int[]> siblings = new HashMap<>();
    private final Map<Integer, List<String>> imports = new HashMap<>();
    private byte table;
    private long coldQuestion;
    private @Nullable BitSet coldParts;
    private int known;
    private int found;

    /// No facts.
    ///
    /// @param checksum of the file
    /// @param pieces   how many it has
    ImageFacts(long checksum, int pieces) {
        this.checksum = checksum;
        looks = new byte[pieces];
        shapes = new byte[pieces];
    }

    /// Facts that were written; null if they are damaged or those of another file.
    static @Nullable ImageFacts read(byte[] bytes, long checksum, int pieces) {
        if (bytes.length < FIXED + 2L * pieces) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int end = bytes.length - Integer.BYTES;
        if (in.getLong() != MAGIC
                || in.getLong() != checksum
                || in.getInt() != pieces
                || in.getInt(end) != crc(bytes, end)) {
            return null;
        }
        in.limit(end);
        ImageFacts facts = new ImageFacts(checksum, pieces);
        in.get(facts.looks);
        in.get(facts.shapes);
        return facts.readLooks() && facts.readOfWhole(in) && facts.readExits(in) && !in.hasRemaining() ? facts : null;
    }

    private boolean readLooks() {
        for (byte look : looks) {
            if (look < 0 || look >= REASONS.length + 2) {
                return false;
            }
            known += look == 0 ? 0 : 1;
        }
        return true;
    }

    private boolean readOfWhole(ByteBuffer in) {
        table = in.get();
        coldQuestion = in.getLong();
        int words = in.getInt();
        if (table < 0 || table > 2 || words < 0 || words > in.remaining() / Long.BYTES) {
            return false;
        }
        long[] bits = new long[words];
        in.asLongBuffer().get(bits);
        in.position(in.position() + words * Long.BYTES);
        coldParts = coldQuestion == 0 ? null : BitSet.valueOf(bits);
        return true;
    }

    private boolean readExits(ByteBuffer in) {
        List<String> names = readNames(in);
        if (names == null || in.remaining() < Integer.BYTES) {
            return false;
        }
        for (int left = in.getInt(); left != 0; left--) {
            if (in.remaining() < 2 * Integer.BYTES) {
                return false;
            }
            int piece = in.getInt();
            int[] own = new int[Short.toUnsignedInt(in.getShort())];
            int[] leaving = new int[Short.toUnsignedInt(in.getShort())];
            if (piece < 0
                    || piece >= looks.length
                    || !readIndices(in, own, looks.length)
                    || !readIndices(in, leaving, names.size())) {
                return false;
            }
            List<String> named = new ArrayList<>(leaving.length);
            for (int name : leaving) {
                named.add(names.get(name));
            }
            put(piece, own, named);
        }
        return true;
    }

    private static @Nullable List<String> readNames(ByteBuffer in) {
        List<String> names = new ArrayList<>();
        if (in.remaining() < Integer.BYTES) {
            return null;
        }
        for (int left = in.getInt(); left != 0; left--) {
            int length = in.remaining() < Short.BYTES ? Integer.MAX_VALUE : Short.toUnsignedInt(in.getShort());
            if (length > in.remaining()) {
                return null;
            }
            byte[] name = new byte[length];
            in.get(name);
            names.add(new String(name, StandardCharsets.UTF_8));
        }
        return names;
    }

    private static boolean readIndices(ByteBuffer in, int[] into, int limit) {
        if (in.remaining() < (long) into.length * Integer.BYTES) {
            return false;
        }
        for (int i = 0; i < into.length; i++) {
            into[i] = in.getInt();
            if (into[i] < 0 || into[i] >= limit) {
                return false;
            }
        }
        return true;
    }

    private void put(int piece, int[] own, List<String> leaving) {
        if (own.length > 0) {
            siblings.put(piece, own);
        }
        if (!leaving.isEmpty()) {
            imports.put(piece, leaving);
        }
    }

    /// Whether a piece's code has been examined.
    boolean hasLook(int piece) {
        return looks[piece] != 0;
    }

    /// Why a piece is not proved by its own code; null if that is harmless.
    @Nullable
    Reason reason(int piece) {
        return looks[piece] < 2 ? null : REASONS[looks[piece] - 2];
    }

    /// The pieces that a piece leads to.
    int[] siblings(int piece) {
        return siblings.getOrDefault(piece, NONE);
    }

    /// Names of the functions that a piece leaves to through words filled by the dynamic linker.
    List<String> imports(int piece) {
        return imports.getOrDefault(piece, List.of());
    }

    /// Notes what was found in a piece's code.
    void look(int piece, @Nullable Reason reason, int[] own, List<String> leaving) {
        if (own.length <= Character.MAX_VALUE && leaving.size() <= Character.MAX_VALUE) {
            looks[piece] = (byte) (reason == null ? 1 : 2 + reason.ordinal());
            put(piece, own, leaving);
            found++;
        }
    }

    /// The noted shape of a piece, 0 for none.
    int shape(int piece) {
        return shapes[piece];
    }

    void shape(int piece, int shape) {
        shapes[piece] = (byte) shape;
    }

    /// Whether the data are a table of return addresses ([ReturnAddresses]); null if unknown.
    @Nullable
    Boolean isTable() {
        return table == 0 ? null : table == 2;
    }

    void setTable(boolean is) {
        found += table == 0 ? 1 : 0;
        table = (byte) (is ? 2 : 1);
    }

    /// The pieces that are cold parts ([ColdParts]); null if unknown.
    ///
    /// @param question number of what the answer depends on, apart from the file
    @Nullable
    BitSet coldParts(long question) {
        BitSet answer = coldParts;
        return answer == null || question != coldQuestion ? null : (BitSet) answer.clone();
    }

    void setColdParts(long question, BitSet parts) {
        coldQuestion = question;
        coldParts = (BitSet) parts.clone();
        found += known; // much
    }

    /// Whether there is much that is not written.
    boolean haveGrown() {
        return found > 0 && (long) found * KNOWN_PER_NEW > known;
    }

    /// For [#read].
    byte[] bytes() {
        Map<String, Integer> numbers = new HashMap<>();
        List<byte[]> names = new ArrayList<>();
        long[] cold = coldParts == null ? new long[0] : coldParts.toLongArray();
        int size = FIXED + 2 * looks.length + cold.length * Long.BYTES;
        int leading = 0;
        for (int piece = 0; piece < looks.length; piece++) {
            List<String> leaving = imports(piece);
            for (String name : leaving) {
                byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
                if (numbers.putIfAbsent(name, names.size()) == null) {
                    byte[] shortened = Arrays.copyOf(bytes, Math.min(bytes.length, Character.MAX_VALUE));
                    names.add(shortened);
                    size += Short.BYTES + shortened.length;
                }
            }
            int indices = siblings(piece).length + leaving.size();
            leading += indices == 0 ? 0 : 1;
            size += indices == 0 ? 0 : (2 + indices) * Integer.BYTES;
        }
        ByteBuffer out = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(MAGIC).putLong(checksum).putInt(looks.length).put(looks).put(shapes);
        out.put(table).putLong(coldQuestion).putInt(cold.length);
        for (long word : cold) {
            out.putLong(word);
        }
        out.putInt(names.size());
        for (byte[] name : names) {
            out.putShort((short) name.length).put(name);
        }
        out.putInt(leading);
        for (int piece = 0; piece < looks.length; piece++) {
            int[] own = siblings(piece);
            List<String> leaving = imports(piece);
            if (own.length + leaving.size() > 0) {
                out.putInt(piece).putShort((short) own.length).putShort((short) leaving.size());
                for (int sibling : own) {
                    out.putInt(sibling);
                }
                for (String name : leaving) {
                    out.putInt(numbers.getOrDefault(name, 0));
                }
            }
        }
        out.putInt(crc(out.array(), out.position()));
        return out.array();
    }

    private static int crc(byte[] bytes, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, 0, length);
        return (int) sum.getValue();
    }
}
