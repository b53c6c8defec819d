package org.mdlagent.arch.elf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The functions of an image, sorted by address, one for each address (gABI chapter 4, "Symbol Table").
///
/// Of several names for one address the preferred one comes first: global before weak before local, then fewer
/// leading underscores, then alphabetical order. Names are mangled, as stored, and decoded on demand.
public final class SymbolTable {
    static final int ENTRY_SIZE = 24;

    /// Separates a name from the version that linkers append.
    private static final byte VERSION = '@';

    private static final int RADIX_BITS = 11;

    private static final int TYPE_VARIABLE = 1;
    static final int TYPE_FUNCTION = 2;
    private static final int TYPE_FILE = 4;
    private static final int TYPE_RESOLVER = 10;
    private static final int BINDING_LOCAL = 0;
    private static final int BINDING_WEAK = 2;

    private final Cursor symbols;
    private final Cursor strings;
    private final int size;
    private final long[] starts;
    private final int[] lengths;
    private final int[] entries;

    /// All symbols by address; those of a function start at its `firstNames`.
    private final int[] named;

    private final int[] firstNames;

    /// The last result of [#at]: usually the same or the next one is requested next.
    private int lastFound;

    /// The highest end of all functions up to this one; built on demand by [#containing(long)].
    private long @Nullable [] ends;

    /// @param executable ranges of functions; entries of a damaged table outside are skipped
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

    /// Address and index packed in a long: sorts without objects.
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

    /// Whether an entry is a function in this image's code.
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

    /// Stable radix sort by the bits from `low` to below `high`. Takes a tenth of the time of a comparison sort,
    /// which is interpreted at first.
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

    private int binding(int entry) {
        return symbols.byteAt(entry * ENTRY_SIZE + 4) >> 4;
    }

    private int type(int entry) {
        return symbols.byteAt(entry * ENTRY_SIZE + 4) & 15;
    }

    private int rank(int entry) {
        int binding = binding(entry);
        return binding == BINDING_LOCAL ? 2 : binding == BINDING_WEAK ? 1 : 0;
    }

    private static int underscores(String name) {
        int n = 0;
        while (n < name.length() && name.charAt(n) == '_') {
            n++;
        }
        return n;
    }

    /// The name without its version, as in `malloc@@GLIBC_2.2.5`.
    private String nameOf(int entry) {
        return strings.textUntil(VERSION, symbols.intAt(entry * ENTRY_SIZE));
    }

    /// Number of functions; the other methods index them from 0, by ascending address.
    public int size() {
        return size;
    }

    /// Virtual address of a function's first byte.
    public long start(int function) {
        return starts[function];
    }

    /// Bytes of a function; 0 if unknown, as for some in assembly.
    public long length(int function) {
        return lengths[function];
    }

    /// Number of names of a function.
    public int nameCount(int function) {
        return (function + 1 < size ? firstNames[function + 1] : named.length) - firstNames[function];
    }

    /// A function's name, mangled.
    public String name(int function) {
        return nameOf(entries[function]);
    }

    /// The source file that the table names for a local function, null for others.
    public @Nullable String file(int function) {
        int at = entries[function];
        if (binding(at) != BINDING_LOCAL) {
            return null;
        }
        while (at >= 0 && type(at) != TYPE_FILE) {
            at--;
        }
        return at < 0 ? "" : nameOf(at);
    }

    /// All its names, mangled, the preferred one first.
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

    /// Whether a function has one of a few short names. Does not decode others.
    ///
    /// @param longest length of the longest of them
    public boolean isNamed(int function, Set<String> names, int longest) {
        int at = symbols.intAt(entries[function] * ENTRY_SIZE);
        return strings.lengthUntil(VERSION, at, longest + 1) <= longest && names.contains(name(function));
    }

    /// Whether a function's mangled name contains an ASCII character after its first.
    public boolean hasInside(int function, char character) {
        int at = symbols.intAt(entries[function] * ENTRY_SIZE);
        int before = strings.lengthUntil((byte) character, at, Integer.MAX_VALUE);
        return strings.isAt(at + before, (byte) character) && strings.lengthUntil(VERSION, at, before) == before;
    }

    /// Whether the function is an IFUNC resolver.
    public boolean resolver(int function) {
        return type(entries[function]) == TYPE_RESOLVER;
    }

    /// A global variable of the image.
    ///
    /// @param size in bytes
    public record Variable(long address, long size) {}

    /// The variable with a name, or null; a global one is preferred.
    public @Nullable Variable variable(String name) {
        int at = find(name, TYPE_VARIABLE) * ENTRY_SIZE;
        return at < 0 ? null : new Variable(symbols.longAt(at + 8), symbols.longAt(at + 16));
    }

    /// The virtual address of the function with a name, or 0; a global one is preferred.
    public long function(String name) {
        int at = find(name, TYPE_FUNCTION) * ENTRY_SIZE;
        return at < 0 ? 0 : symbols.longAt(at + 8);
    }

    /// The entry with a name, or -1; a global one is preferred.
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

    /// Index of the function that contains an address, or -1. If several do, the index of the one with the highest
    /// start address. A function of unknown length ends where the next function starts.
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
