package org.mdlagent.arch.elf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The functions of an image, sorted by address, one for each address (gABI chapter 4, "Symbol Table").
///
/// Of several names for one address it keeps the one that says most: global before weak before local, then fewer
/// leading underscores, then the alphabet. Names are as stored, mangled, and are decoded when they are asked for.
public final class SymbolTable {
    static final int ENTRY_SIZE = 24;

    /// Behind it stands the version that linkers put behind a name.
    private static final byte VERSION = '@';

    private static final int RADIX_BITS = 11;

    private static final int TYPE_VARIABLE = 1;
    static final int TYPE_FUNCTION = 2;
    private static final int TYPE_RESOLVER = 10;
    private static final int BINDING_LOCAL = 0;
    private static final int BINDING_WEAK = 2;

    private final Cursor symbols;
    private final Cursor strings;
    private final int size;
    private final long[] starts;
    private final int[] lengths;
    private final int[] entries;

    /// All symbols by address, those of a function from `firstNames` of it on.
    private final int[] named;

    private final int[] firstNames;

    /// What [#at] found last: mostly the same is asked for then, or the next.
    private int lastFound;

    /// The highest end of the functions up to and including this one; built when [#containing(long)] needs it.
    private long @Nullable [] ends;

    /// @param executable where functions may lie: what a damaged table has elsewhere is left out
    SymbolTable(Cursor symbols, Cursor strings, List<Segment> executable) throws ElfFormatException {
        this.symbols = symbols;
        this.strings = strings;
        long lowest = lowest(executable);
        long span = highest(executable) - lowest;
        int indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(symbols.limit() / ENTRY_SIZE);
        if (span < 0 || span >>> (Long.SIZE - 1 - indexBits) != 0) {
            throw symbols.bad("code that lies closer together");
        }
        long[] keys = sortedKeys(lowest, span, indexBits);
        this.starts = new long[keys.length];
        this.lengths = new int[keys.length];
        this.entries = new int[keys.length];
        this.named = new int[keys.length];
        this.firstNames = new int[keys.length];
        int last = -1;
        for (int i = 0; i < keys.length; i++) {
            int entry = (int) (keys[i] & (1L << indexBits) - 1);
            long start = lowest + (keys[i] >>> indexBits);
            long length = symbols.longAt(entry * ENTRY_SIZE + 16);
            if (length < 0 || length > Integer.MAX_VALUE) {
                throw symbols.bad("functions shorter than 2 GiB");
            }
            named[i] = entry;
            if (last < 0 || starts[last] != start) {
                last++;
                firstNames[last] = i;
                starts[last] = start;
                entries[last] = entry;
            } else if (saysMore(entry, entries[last])) {
                entries[last] = entry;
            }
            lengths[last] = Math.max(lengths[last], (int) length);
        }
        this.size = last + 1;
    }

    /// One long per function, address above index, sorts without objects.
    private long[] sortedKeys(long lowest, long span, int indexBits) throws ElfFormatException {
        int functions = 0;
        for (int at = 0; at + ENTRY_SIZE <= symbols.limit(); at += ENTRY_SIZE) {
            functions += isFunction(at, lowest, span) ? 1 : 0;
        }
        long[] keys = new long[functions];
        int n = 0;
        for (int at = 0; at + ENTRY_SIZE <= symbols.limit(); at += ENTRY_SIZE) {
            if (!isFunction(at, lowest, span)) {
                continue;
            }
            if ((symbols.intAt(at) & 0xffff_ffffL) >= strings.limit()) {
                throw symbols.bad("names inside the string table");
            }
            keys[n++] = symbols.longAt(at + 8) - lowest << indexBits | at / ENTRY_SIZE;
        }
        return sorted(keys, indexBits, Long.SIZE - Long.numberOfLeadingZeros(span) + indexBits);
    }

    /// Whether the entry at a position is that of a function in code of this image.
    private boolean isFunction(int at, long lowest, long span) {
        int head = symbols.intAt(at + 4);
        int type = head & 15;
        boolean defined = head >>> 16 != 0;
        if (!defined || type != TYPE_FUNCTION && type != TYPE_RESOLVER) {
            return false;
        }
        long distance = symbols.longAt(at + 8) - lowest;
        return distance >= 0 && distance < span;
    }

    /// Sorts keys by their bits from `low` to below `high`, some at a time, those of the lowest value first; equal ones
    /// stay as they are. It takes a tenth of the time of comparing, which is interpreted at first.
    private static long[] sorted(long[] keys, int low, int high) {
        long[] from = keys;
        long[] to = new long[keys.length];
        int[] next = new int[1 << RADIX_BITS];
        for (int shift = low; shift < high; shift += RADIX_BITS) {
            Arrays.fill(next, 0);
            for (long key : from) {
                next[(int) (key >>> shift) & next.length - 1]++;
            }
            int before = 0;
            for (int i = 0; i < next.length; i++) {
                int count = next[i];
                next[i] = before;
                before += count;
            }
            for (long key : from) {
                to[next[(int) (key >>> shift) & next.length - 1]++] = key;
            }
            long[] done = to;
            to = from;
            from = done;
        }
        return from;
    }

    private static long lowest(List<Segment> executable) {
        long lowest = executable.isEmpty() ? 0 : executable.get(0).address();
        for (int i = 1; i < executable.size(); i++) {
            lowest = Math.min(lowest, executable.get(i).address());
        }
        return lowest;
    }

    private static long highest(List<Segment> executable) {
        long highest = 0;
        for (int i = 0; i < executable.size(); i++) {
            Segment segment = executable.get(i);
            highest = Math.max(highest, segment.address() + segment.memorySize());
        }
        return highest;
    }

    private boolean saysMore(int entry, int than) {
        int rank = rank(entry) - rank(than);
        if (rank == 0) {
            String name = nameOf(entry);
            String other = nameOf(than);
            rank = underscores(name) - underscores(other);
            if (rank == 0) {
                rank = name.compareTo(other);
            }
        }
        return rank < 0;
    }

    private int rank(int entry) {
        int binding = symbols.byteAt(entry * ENTRY_SIZE + 4) >> 4;
        return binding == BINDING_LOCAL ? 2 : binding == BINDING_WEAK ? 1 : 0;
    }

    private static int underscores(String name) {
        int n = 0;
        while (n < name.length() && name.charAt(n) == '_') {
            n++;
        }
        return n;
    }

    /// Without the version that linkers put behind it, as in `malloc@@GLIBC_2.2.5`.
    private String nameOf(int entry) {
        return strings.textUntil(VERSION, symbols.intAt(entry * ENTRY_SIZE));
    }

    /// How many functions there are; the other methods number them from 0, by ascending address.
    public int size() {
        return size;
    }

    /// Virtual address of a function's first byte.
    public long start(int function) {
        return starts[function];
    }

    /// Bytes of a function; 0 where the table does not say, as for some written in assembly.
    public long length(int function) {
        return lengths[function];
    }

    /// How many names a function has.
    public int nameCount(int function) {
        return (function + 1 < size ? firstNames[function + 1] : named.length) - firstNames[function];
    }

    /// A function's name, mangled.
    public String name(int function) {
        return nameOf(entries[function]);
    }

    /// All its names, mangled, first the one that says most.
    public List<String> names(int function) {
        int end = firstNames[function] + nameCount(function);
        List<String> names = new ArrayList<>(List.of(name(function)));
        for (int i = firstNames[function]; i < end; i++) {
            if (named[i] != entries[function]) {
                names.add(nameOf(named[i]));
            }
        }
        return names;
    }

    /// Whether a function has one of a few short names. Others are not decoded.
    ///
    /// @param longest length of the longest of them
    public boolean isNamed(int function, Set<String> names, int longest) {
        int at = symbols.intAt(entries[function] * ENTRY_SIZE);
        return strings.lengthUntil(VERSION, at, longest + 1) <= longest && names.contains(name(function));
    }

    /// Whether a function's name, mangled, has a character of one byte behind its first.
    public boolean hasInside(int function, char character) {
        int at = symbols.intAt(entries[function] * ENTRY_SIZE);
        int before = strings.lengthUntil((byte) character, at, Integer.MAX_VALUE);
        return strings.isAt(at + before, (byte) character) && strings.lengthUntil(VERSION, at, before) == before;
    }

    /// Whether the code is a resolver that the dynamic linker calls to choose the function of this name.
    public boolean resolver(int function) {
        return (symbols.byteAt(entries[function] * ENTRY_SIZE + 4) & 15) == TYPE_RESOLVER;
    }

    /// A variable of the image, which all its threads share.
    ///
    /// @param size in bytes
    public record Variable(long address, long size) {}

    /// The variable of a name, or null; of several a global one.
    public @Nullable Variable variable(String name) {
        int at = find(name, TYPE_VARIABLE) * ENTRY_SIZE;
        return at < 0 ? null : new Variable(symbols.longAt(at + 8), symbols.longAt(at + 16));
    }

    /// The virtual address of the function of a name, or 0; of several that of a global one.
    public long function(String name) {
        int at = find(name, TYPE_FUNCTION) * ENTRY_SIZE;
        return at < 0 ? 0 : symbols.longAt(at + 8);
    }

    /// The entry of a name, or -1; of several a global one.
    private int find(String name, int type) {
        int found = -1;
        for (int entry = 0; (entry + 1) * ENTRY_SIZE <= symbols.limit(); entry++) {
            int head = symbols.intAt(entry * ENTRY_SIZE + 4);
            boolean defined = head >>> 16 != 0;
            boolean better = found < 0 || rank(entry) == 0;
            if (defined && better && (head & 15) == type && nameOf(entry).equals(name)) {
                found = entry;
            }
        }
        return found;
    }

    /// The function that starts at an address, or -1.
    public int at(long address) {
        int last = lastFound;
        for (int i = last; i < size && i <= last + 1; i++) {
            if (starts[i] == address) {
                lastFound = i;
                return i;
            }
        }
        int i = Arrays.binarySearch(starts, 0, size, address);
        if (i < 0) {
            return -1;
        }
        lastFound = i;
        return i;
    }

    /// The function that an address lies in, or -1. Of several it is the one that starts last; one of unknown length
    /// reaches to the next.
    public int containing(long address) {
        int i = Arrays.binarySearch(starts, 0, size, address);
        if (i >= 0) {
            return i;
        }
        int before = -i - 2;
        if (before >= 0 && lengths[before] == 0) {
            return before;
        }
        long[] reach = ends();
        for (int f = before; f >= 0 && reach[f] > address; f--) {
            if (address < starts[f] + lengths[f]) {
                return f;
            }
        }
        return -1;
    }

    private long[] ends() {
        long[] result = ends;
        if (result == null) {
            result = new long[size];
            long end = 0;
            for (int i = 0; i < size; i++) {
                end = Math.max(end, starts[i] + lengths[i]);
                result[i] = end;
            }
            ends = result;
        }
        return result;
    }
}
