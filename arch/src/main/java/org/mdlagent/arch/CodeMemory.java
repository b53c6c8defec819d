package org.mdlagent.arch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Executable memory and its writable aliases. No page is ever writable and executable at once: text that carries
/// sites is remapped over a memory file that is also mapped writable elsewhere, and trampolines live in the same kind
/// of mapping (design: "Code memory").
///
/// Safe for use by several threads. Mappings are never undone, so an alias once told stays right; looking one up takes
/// no lock.
public final class CodeMemory {
    private static final long PAGE = 4096;

    /// Text is remapped in pieces of this size, so that a large program pays for what it probes, and neighbours
    /// become one mapping.
    static final long CHUNK = 64 * 1024;

    /// What a 32-bit displacement reaches, less room for the instruction and for what it may be relative to.
    private static final long REACH = (1L << 31) - (1L << 24);

    /// Kept free between an arena and its neighbours, which may grow: heaps upwards, stacks downwards.
    private static final long MARGIN = 16L << 20;

    private static final long LOWEST = 1L << 16;
    private static final long HIGHEST = 1L << 47;
    private static final int EEXIST = 17;

    private final NativeApi api;

    /// By address, disjoint; replaced, never changed.
    private volatile Mapping[] mappings = {};

    private record Mapping(long start, long end, long alias) {}

    public CodeMemory(NativeApi api) {
        this.api = api;
    }

    /// Where to store to change the code byte at `address`.
    ///
    /// @throws IllegalArgumentException when the byte is neither in remapped text nor in an arena
    public long alias(long address) {
        Mapping mapping = find(address);
        if (mapping == null) {
            throw new IllegalArgumentException("no writable alias for code at 0x" + Long.toHexString(address));
        }
        return mapping.alias + (address - mapping.start);
    }

    private @Nullable Mapping find(long address) {
        Mapping[] all = mappings;
        int low = 0;
        int high = all.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (all[middle].start <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low > 0 && address < all[low - 1].end ? all[low - 1] : null;
    }

    private void add(Mapping mapping) {
        Mapping[] all = Arrays.copyOf(mappings, mappings.length + 1);
        all[all.length - 1] = mapping;
        Arrays.sort(all, Comparator.comparingLong(Mapping::start));
        mappings = all;
    }

    /// Remaps the chunks of `[textStart, textEnd)` that hold any of `addresses`, as far as they are not remapped yet;
    /// adjacent chunks become one mapping.
    ///
    /// @param addresses ascending
    /// @throws IOException when the kernel refuses a mapping
    public synchronized void remap(long textStart, long textEnd, long[] addresses) throws IOException {
        long start = 0;
        long end = 0;
        for (long address : addresses) {
            long first = Math.max(address & -CHUNK, textStart & -PAGE);
            // An instruction may reach into the next chunk.
            long last = Math.min((address + 15 & -CHUNK) + CHUNK, textEnd + PAGE - 1 & -PAGE);
            if (end != 0 && first <= end) {
                end = Math.max(end, last);
                continue;
            }
            remapGaps(start, end);
            start = first;
            end = last;
        }
        remapGaps(start, end);
    }

    /// What has an alias keeps it: sites that are toggled through it are there.
    private void remapGaps(long start, long end) throws IOException {
        long from = start;
        for (Mapping mapping : mappings) {
            if (mapping.end > from && mapping.start < end) {
                remap(from, mapping.start);
                from = mapping.end;
            }
        }
        remap(from, end);
    }

    private void remap(long start, long end) throws IOException {
        if (start >= end) {
            return;
        }
        long alias = api.codeRemap(start, end - start);
        if (alias < 0) {
            throw new IOException("cannot remap text at 0x" + Long.toHexString(start) + ": errno " + -alias);
        }
        add(new Mapping(start, end, alias));
    }

    /// Whether direct jumps reach from anywhere in `[from, to)` to `target`, and back.
    public static boolean reaches(long from, long to, long target) {
        return Math.max(to, target) - Math.min(from, target) <= REACH;
    }

    /// New executable memory that direct jumps from and to all of `[from, to)` reach.
    ///
    /// @return its address
    /// @throws IOException when there is no room within reach, or the kernel refuses
    public synchronized long allocateNear(long from, long to, long length) throws IOException {
        long size = length + PAGE - 1 & -PAGE;
        for (long at : places(from, to, size)) {
            long alias = api.codeMap(at, size);
            if (alias == -EEXIST) {
                continue;
            }
            if (alias < 0) {
                throw new IOException("cannot map " + size + " bytes of executable memory: errno " + -alias);
            }
            add(new Mapping(at, at + size, alias));
            return at;
        }
        throw new IOException("no room for " + size + " bytes within reach of 0x" + Long.toHexString(from));
    }

    /// New executable memory at exactly `[start, end)`, widened to whole pages.
    ///
    /// @return whether there is room
    /// @throws IOException when the kernel refuses
    public synchronized boolean allocateAt(long start, long end) throws IOException {
        long from = start & -PAGE;
        long to = end + PAGE - 1 & -PAGE;
        if (from < LOWEST || to > HIGHEST) {
            return false;
        }
        long alias = api.codeMap(from, to - from);
        if (alias == -EEXIST) {
            return false;
        }
        if (alias < 0) {
            throw new IOException("cannot map " + (to - from) + " bytes of executable memory: errno " + -alias);
        }
        add(new Mapping(from, to, alias));
        return true;
    }

    /// Candidate addresses, the nearest gap below first: above an executable its heap grows.
    private static List<Long> places(long from, long to, long size) throws IOException {
        long lowest = Math.max(LOWEST, to - REACH);
        long highest = Math.min(HIGHEST, from + REACH) - size;
        List<Long> below = new ArrayList<>();
        List<Long> above = new ArrayList<>();
        long gapStart = LOWEST;
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            int dash = line.indexOf('-');
            long mappedStart = Long.parseUnsignedLong(line, 0, dash, 16);
            long mappedEnd = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
            if (mappedStart < 0) {
                break; // vsyscall
            }
            addPlace(gapStart, mappedStart, size, lowest, highest, from, below, above);
            gapStart = mappedEnd;
        }
        addPlace(gapStart, HIGHEST, size, lowest, highest, from, below, above);
        List<Long> places = new ArrayList<>(below.reversed());
        places.addAll(above);
        return places;
    }

    private static void addPlace(
            long gapStart,
            long gapEnd,
            long size,
            long lowest,
            long highest,
            long from,
            List<Long> below,
            List<Long> above) {
        // Small gaps lie between the pieces of one image, where nothing grows.
        long margin = gapEnd - gapStart > 4 * MARGIN ? MARGIN : 0;
        if (gapEnd <= from) {
            long at = Math.min(gapEnd - margin - size, highest) & -PAGE;
            if (at >= Math.max(gapStart, lowest)) {
                below.add(at);
            }
        } else {
            // The middle of what is in reach leaves most room to a heap below and to a stack above.
            long first = Math.max(gapStart + margin, lowest);
            long last = Math.min(gapEnd - margin - size, highest);
            if (first <= last) {
                above.add(first + (last - first) / 2 & -PAGE);
            }
        }
    }
}
