package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.site.CodeSearch;

/// Counts the words in a file's data that are addresses right after calls: a table of return addresses that a
/// runtime looks up has one per call.
///
/// Adjacent words of this kind are ignored: they are jump tables, or tables of functions. A table of return
/// addresses has a frame description between two of them.
///
/// @param alone     words with a code address whose neighbours have none
/// @param behindCall of these, addresses right after a call
record ReturnAddresses(int alone, int behindCall) {
    /// Compilers' data has some: labels after calls. GCC's own cc1 has 279 among 57,213 isolated words.
    private static final int TABLE_MIN = 64;

    /// In OCaml's programs, 7 of 10 such words follow a call; in Debian's C and C++ programs, at most 1 of
    /// 20.
    private static final int PART_MIN = 8;

    boolean areTable() {
        return behindCall >= TABLE_MIN && behindCall >= alone / PART_MIN;
    }

    static ReturnAddresses of(ElfFile elf, CodeSearch search) throws IOException {
        Map<Long, Long> words = new HashMap<>();
        CodeOfFile code = new CodeOfFile(elf);
        for (Segment segment : elf.segments()) {
            // Addresses that the dynamic linker relocates are in writable segments; its own tables contain
            // addresses as well, and are read-only.
            boolean holdsAddresses = segment.writable() || !elf.positionIndependent() && segment.loaded();
            if (holdsAddresses && !segment.executable()) {
                addWords(elf, segment, code, words);
            }
        }
        DynamicSection linking = elf.dynamic();
        if (linking != null) {
            linking.findRelativeWords((address, value) -> {
                if (code.holds(value)) {
                    words.put(address, value);
                }
            });
        }
        int alone = 0;
        int behindCall = 0;
        for (Map.Entry<Long, Long> word : words.entrySet()) {
            long at = word.getKey();
            if (!words.containsKey(at - Long.BYTES) && !words.containsKey(at + Long.BYTES)) {
                alone++;
                behindCall += code.isBehindCall(word.getValue(), search) ? 1 : 0;
            }
        }
        return new ReturnAddresses(alone, behindCall);
    }

    private static void addWords(ElfFile elf, Segment segment, CodeOfFile code, Map<Long, Long> words)
            throws IOException {
        byte[] data = elf.code(segment.address(), segment.fileSize());
        int first = (int) (-segment.address() & Long.BYTES - 1);
        for (int at = first; at + Long.BYTES <= data.length; at += Long.BYTES) {
            // Fast path: most words are small or large.
            if (data[at + 7] == 0 && data[at + 6] == 0) {
                long value = word(data, at);
                if (code.holds(value)) {
                    words.put(segment.address() + at, value);
                }
            }
        }
    }

    private static long word(byte[] data, int at) {
        long value = 0;
        for (int i = Long.BYTES - 1; i >= 0; i--) {
            value = value << Byte.SIZE | data[at + i] & 0xff;
        }
        return value;
    }

    /// The executable contents.
    private static final class CodeOfFile {
        private final byte[][] bytes;
        private final long[] starts;

        CodeOfFile(ElfFile elf) throws IOException {
            int count = elf.executableSegments().size();
            bytes = new byte[count][];
            starts = new long[count];
            for (int i = 0; i < count; i++) {
                Segment segment = elf.executableSegments().get(i);
                starts[i] = segment.address();
                bytes[i] = elf.code(segment.address(), segment.fileSize());
            }
        }

        boolean holds(long address) {
            return find(address) >= 0;
        }

        private int find(long address) {
            for (int i = 0; i < starts.length; i++) {
                if (Long.compareUnsigned(address - starts[i], bytes[i].length) < 0) {
                    return i;
                }
            }
            return -1;
        }

        boolean isBehindCall(long address, CodeSearch search) {
            int part = find(address);
            int end = (int) (address - starts[part]);
            int length = Math.min(end, search.callLengthMax());
            byte[] before = new byte[length];
            System.arraycopy(bytes[part], end - length, before, 0, length);
            return search.endsWithCall(before);
        }
    }
}
