package org.mdlagent.arch.code;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.TextDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.Scratch;

/// Executable memory and its writable aliases. No page is ever both writable and executable: text with sites is
/// copied into a memory file that is mapped writable elsewhere, and the copy then replaces the text. Trampolines
/// use the same kind of mapping (design: "Code memory").
///
/// Sites are made in a copy before it is shown. So no thread in any process ever executes a half-made site, and a
/// thread in the text continues in the copy.
///
/// Aliases are permanent: after a text was unmapped, stores to its copy have no effect. Thread-safe; looking up an
/// alias takes no lock.
public final class CodeMemory {
    private static final long PAGE = 4096;

    /// Text is copied in chunks of this size, so that a large program needs memory only for text with probes.
    /// Adjacent chunks share a mapping.
    static final long CHUNK = 64 * 1024;

    /// Reach of a 32-bit displacement, less a margin for the instruction and its base.
    private static final long REACH = (1L << 31) - (1L << 24);

    /// Maximum distance of code below its text such that it reaches all hops, which are up to 1,568 MiB above the
    /// text ([org.mdlagent.arch.x86.patch.PunView]).
    private static final long BELOW = REACH - (98L << 24);

    /// Gap between an arena and its neighbours, which may grow: heaps upwards, stacks downwards.
    private static final long MARGIN = 16L << 20;

    private static final long LOWEST = 1L << 16;
    private static final long HIGHEST = 1L << 47;
    private static final int EEXIST = 17;
    private static final int ETXTBSY = 26;

    /// Name of the file of all copies of text.
    private static final String TEXT_FILE = "/memfd:mdl-text (deleted)";

    private final NativeApi api;

    /// Mappings by address, disjoint. Copy on write.
    private volatile Mapping[] mappings = {};

    /// Parts in whose place the file's text is.
    private TextParts hidden = new TextParts(List.of());

    /// @param mark checksum of the text when it was copied; 0 for an arena
    record Mapping(long start, long end, long alias, long mark) {}

    public CodeMemory(NativeApi api) {
        this.api = api;
    }

    /// The writable address of the code byte at `address`.
    ///
    /// @throws IllegalArgumentException if the byte is neither in remapped text nor in an arena
    public long alias(long address) {
        Mapping mapping = find(address);
        if (mapping == null) {
            throw new IllegalArgumentException("no writable alias for code at 0x" + Long.toHexString(address));
        }
        return mapping.alias + (address - mapping.start);
    }

    /// Whether the code byte at `address` is in remapped text or in an arena.
    public boolean hasAlias(long address) {
        return find(address) != null;
    }

    private @Nullable Mapping find(long address) {
        Mapping[] all = mappings;
        int from = upTo(all, address);
        return from > 0 && address < all[from - 1].end ? all[from - 1] : null;
    }

    /// Number of mappings that start at an address or below.
    private static int upTo(Mapping[] all, long address) {
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
        return low;
    }

    private void add(Mapping mapping) {
        int at = upTo(mappings, mapping.start);
        Mapping[] all = Arrays.copyOf(mappings, mappings.length + 1);
        System.arraycopy(mappings, at, all, at + 1, mappings.length - at);
        all[at] = mapping;
        mappings = all;
    }

    /// Copies the chunks of `[textStart, textEnd)` that contain any of `addresses` and are not copied yet;
    /// adjacent chunks become one. Their bytes then have aliases. [#show] replaces the text by the copies; the
    /// text must not change before.
    ///
    /// @param addresses ascending
    /// @param former    a copy of the same text, now unmapped: it is overwritten, if it has the same parts and no
    ///     other process can have it; null for none
    /// @throws ChangedTextException if the program has mapped something else there, or may write to it
    /// @throws IOException if out of memory
    public synchronized TextCopy copy(long textStart, long textEnd, long[] addresses, @Nullable TextCopy former)
            throws IOException {
        List<Mapping> parts = new ArrayList<>();
        long start = 0;
        long end = 0;
        for (long address : addresses) {
            long first = Math.max(address & -CHUNK, textStart & -PAGE);
            // An instruction may extend into the next chunk.
            long last = Math.min((address + 15 & -CHUNK) + CHUNK, textEnd + PAGE - 1 & -PAGE);
            if (end != 0 && first <= end) {
                end = Math.max(end, last);
                continue;
            }
            addGaps(parts, start, end);
            start = first;
            end = last;
        }
        addGaps(parts, start, end);
        List<Mapping> places = former != null && !mayBeShared(former) && former.hasParts(textStart, parts)
                ? former.parts()
                : List.of();
        for (int i = 0; i < parts.size(); i++) {
            parts.set(i, copied(parts.get(i), places.isEmpty() ? 0 : places.get(i).alias));
        }
        parts.forEach(this::add);
        return new TextCopy(textStart, parts);
    }

    /// @param alias of the target, 0 for a new one
    private Mapping copied(Mapping part, long alias) throws IOException {
        long text = Scratch.address();
        write(part, alias, text);
        long result = api.codeCopy(text);
        if (result == -ETXTBSY) {
            throw new ChangedTextException();
        } else if (result < 0) {
            throw new IOException("cannot copy text at 0x" + Long.toHexString(part.start) + ": errno " + -result);
        }
        return new Mapping(
                part.start,
                part.end,
                Memory.getLong(text + TextDescriptor.ALIAS),
                Memory.getLong(text + TextDescriptor.MARK));
    }

    static void write(Mapping part, long alias, long text) {
        Memory.putLong(text + TextDescriptor.START, part.start);
        Memory.putLong(text + TextDescriptor.LENGTH, part.end - part.start);
        Memory.putLong(text + TextDescriptor.ALIAS, alias);
        Memory.putLong(text + TextDescriptor.MARK, part.mark);
    }

    /// Adds the parts of `[start, end)` without an alias. The others keep theirs, because sites are toggled
    /// through it.
    private void addGaps(List<Mapping> parts, long start, long end) {
        long from = start;
        for (Mapping mapping : mappings) {
            if (mapping.end > from && mapping.start < end) {
                addPart(parts, from, mapping.start);
                from = mapping.end;
            }
        }
        addPart(parts, from, end);
    }

    private static void addPart(List<Mapping> parts, long start, long end) {
        if (start < end) {
            parts.add(new Mapping(start, end, 0, 0));
        }
    }

    /// Replaces texts by their copies, while images are held ([NativeApi#holdImages]).
    ///
    /// @return the copies of texts that the program has changed, at least in part, since they were copied; changed
    ///     parts stay. Null, and no text is replaced, if an image was unloaded all the same, or the agent has been
    ///     declared dead
    /// @throws IOException if the kernel refuses a mapping
    public synchronized @Nullable Set<TextCopy> show(List<TextCopy> copies) throws IOException {
        copies.forEach(copy -> copy.shownAfter(forks()));
        TextParts parts = new TextParts(copies);
        return parts.change(api::show, TextDescriptor.MARK) == 0 ? parts.skipped() : null;
    }

    /// Maps the files' text over copies, while images are held. Sites have no effect in this process until
    /// [#showAgain].
    ///
    /// @param copies with what each is called
    /// @return false, and all copies stay, if an image was unloaded all the same
    /// @throws IOException if the kernel refuses a mapping, or a file has been replaced or removed
    public synchronized boolean hide(Map<TextCopy, String> copies) throws IOException {
        TextParts parts = new TextParts(copies.keySet());
        long result = parts.change(api::hide, TextDescriptor.ALIAS);
        if (result == -TextParts.ENOENT) {
            TextCopy lost = parts.skipped().iterator().next();
            throw new IOException(copies.get(lost) + " has been replaced or removed since it was loaded");
        }
        if (result == 0) {
            parts.forgetSkipped();
            hidden = parts;
        }
        return result == 0;
    }

    /// Shows what [#hide] has hidden, but for copies that have been forgotten, while images are held.
    ///
    /// @return as [#show]
    /// @throws IOException if the kernel refuses a mapping
    public synchronized @Nullable Set<TextCopy> showAgain() throws IOException {
        hidden.retain(Set.of(mappings));
        return hidden.change(api::show, TextDescriptor.MARK) == 0 ? hidden.skipped() : null;
    }

    /// Whether all of the copy is in place now.
    public boolean isShown(TextCopy copy, MemoryMap memory) {
        return copy.parts().stream().allMatch(part -> isShown(part, memory));
    }

    private boolean isShown(Mapping part, MemoryMap memory) {
        for (long at = part.start; at < part.end; ) {
            MemoryMap.Region region = memory.at(at);
            if (region == null
                    || !region.path().equals(TEXT_FILE)
                    || region.offset() + (part.start - region.start()) != part.alias - api.textAlias()) {
                return false;
            }
            at = region.end();
        }
        return true;
    }

    /// Forgets a copy's address, because its text was unmapped. Its aliases remain.
    public synchronized void forget(TextCopy copy) {
        List<Mapping> remaining = new ArrayList<>(List.of(mappings));
        remaining.removeAll(copy.parts());
        mappings = remaining.toArray(Mapping[]::new);
    }

    /// Whether another process may execute the copy, because it was forked while the copy was shown.
    private boolean mayBeShared(TextCopy copy) {
        return copy.forksBefore() != forks();
    }

    private long forks() {
        return Memory.getLongAcquire(api.session() + HeaderDescriptor.FORKS);
    }

    /// Whether direct jumps reach from anywhere in `[from, to)` to `target`, and back.
    public static boolean reaches(long from, long to, long target) {
        return Math.max(to, target) - Math.min(from, target) <= REACH;
    }

    /// New executable memory that direct jumps from and to all of `[from, to)` reach.
    ///
    /// @return its address
    /// @throws IOException if there is no room within reach, or the kernel refuses
    public synchronized long allocateNear(long from, long to, long length) throws IOException {
        long size = length + PAGE - 1 & -PAGE;
        for (long at : places(MemoryMap.read().regions(), from, to, size)) {
            long alias = api.codeMap(at, size);
            if (alias == -EEXIST) {
                continue;
            }
            if (alias < 0) {
                throw new IOException("cannot map " + size + " bytes of executable memory: errno " + -alias);
            }
            add(new Mapping(at, at + size, alias, 0));
            return at;
        }
        throw new IOException("no room for " + size + " bytes within reach of 0x" + Long.toHexString(from));
    }

    /// New executable memory at exactly `[start, end)`, widened to whole pages.
    ///
    /// @return whether there is room
    /// @throws IOException if the kernel refuses
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
        add(new Mapping(from, to, alias, 0));
        return true;
    }

    /// Candidate addresses: the nearest gap below first, because an executable's heap grows above it; gaps from
    /// which hops may be out of reach last.
    ///
    /// @param regions in use, in ascending order
    static List<Long> places(List<MemoryMap.Region> regions, long from, long to, long size) {
        long lowest = Math.max(LOWEST, to - REACH);
        long highest = Math.min(HIGHEST, from + REACH) - size;
        List<Long> below = new ArrayList<>();
        List<Long> above = new ArrayList<>();
        long gapStart = LOWEST;
        for (MemoryMap.Region region : regions) {
            addPlace(gapStart, region.start(), size, lowest, highest, from, below, above);
            gapStart = region.end();
        }
        addPlace(gapStart, HIGHEST, size, lowest, highest, from, below, above);
        List<Long> nearest = below.reversed();
        List<Long> places = new ArrayList<>();
        nearest.stream().filter(at -> at >= to - BELOW).forEach(places::add);
        places.addAll(above);
        nearest.stream().filter(at -> at < to - BELOW).forEach(places::add);
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
        // Small gaps are between the segments of one image, where nothing grows.
        long margin = gapEnd - gapStart > 4 * MARGIN ? MARGIN : 0;
        if (gapEnd <= from) {
            long at = Math.min(gapEnd - margin - size, highest) & -PAGE;
            if (at >= Math.max(gapStart, lowest)) {
                below.add(at);
            }
        } else {
            // The middle of the reachable part leaves most room for a heap below and a stack above.
            long first = Math.max(gapStart + margin, lowest);
            long last = Math.min(gapEnd - margin - size, highest);
            if (first <= last) {
                above.add(first + (last - first) / 2 & -PAGE);
            }
        }
    }
}
