package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.site.DisplacementRule;

/// Memory for hops of sites whose jumps can have only certain displacements: pages within reach of such
/// jumps.
final class ConstrainedHops {
    private static final int PAGE = 4096;

    private static final int TOP_MASK = 0xFF << 24;

    /// Half of the range that one highest byte reaches.
    private static final int HALF = 1 << 23;

    /// Highest bytes of displacements, best first: far below the text, where a position-independent program
    /// has nothing; far above it, beyond the heap of a program that is not position-independent.
    private static final int[] TOPS = {0xCC << 24, 0x60 << 24, 0x61 << 24};

    /// Maximum pages refused before a site is given up: all that one highest byte reaches.
    private static final int REFUSALS_MAX = (1 << 24) / PAGE;

    private final CodeMemory code;
    private final int hopSize;

    /// Addresses of pages that have been tried.
    private final Set<Long> tried = new HashSet<>();

    /// Highest bytes of displacements whose range is all in use.
    private final Set<Integer> taken = new HashSet<>();

    /// Pages that the kernel has refused for the current site.
    private int refused;

    /// Used bytes of the pages with room, by page address.
    private final TreeMap<Long, BitSet> open = new TreeMap<>();

    /// Pages not returned by [#newRanges] yet, in ascending order.
    private final TreeSet<Long> fresh = new TreeSet<>();

    ConstrainedHops(CodeMemory code, int hopSize) {
        this.code = code;
        this.hopSize = hopSize;
    }

    /// Allocates a place for a hop.
    ///
    /// @param from  end of the jump to it
    /// @param rules of which its displacement must satisfy any one
    /// @return 0 when there is none
    /// @throws IOException when the kernel refuses memory
    long place(long from, List<DisplacementRule> rules) throws IOException {
        for (int top : tops(rules)) {
            boolean addressable = from + top >= 0 && from + top < 1L << 47;
            for (DisplacementRule rule : rules) {
                if (addressable && ((rule.value() ^ top) & rule.mask() & TOP_MASK) == 0) {
                    long found = placeWith(
                            new DisplacementRule(rule.mask() | TOP_MASK, rule.value() & ~TOP_MASK | top), from);
                    if (found != 0) {
                        return found;
                    }
                }
            }
        }
        return 0;
    }

    /// A single rule may allow any highest byte.
    private static int[] tops(List<DisplacementRule> rules) {
        DisplacementRule only = rules.getFirst();
        boolean fixed = rules.size() == 1 && (only.mask() & TOP_MASK) == TOP_MASK;
        return fixed ? new int[] {only.value() & TOP_MASK} : TOPS;
    }

    /// @param rule that fixes the highest byte
    private long placeWith(DisplacementRule rule, long from) throws IOException {
        long first = from + lowest(rule) & -PAGE;
        for (Map.Entry<Long, BitSet> page : open.subMap(first, true, from + highest(rule), true)
                .descendingMap()
                .entrySet()) {
            long found = placeIn(page.getKey(), page.getValue(), from, rule);
            if (found != 0) {
                return found;
            }
        }
        return taken.contains(rule.value() & TOP_MASK) ? 0 : placeInNewPage(from, rule);
    }

    /// The highest bits of a displacement, down to the first that is free.
    private static int fixed(DisplacementRule rule) {
        return ~(int) (0xFFFF_FFFFL >>> Integer.numberOfLeadingZeros(~rule.mask()));
    }

    private static int lowest(DisplacementRule rule) {
        return rule.value() & fixed(rule);
    }

    private static int highest(DisplacementRule rule) {
        return lowest(rule) | ~fixed(rule);
    }

    /// Tries the upper half first: sites come in ascending order, and the following sites can reach it as
    /// well. The lowest page for one site is out of reach for the next one, so each page of code would need
    /// its own.
    private long placeInNewPage(long from, DisplacementRule rule) throws IOException {
        int lowest = rule.value() & TOP_MASK;
        int middle = lowest | HALF;
        refused = 0;
        long found = placeBetween(middle, lowest | ~TOP_MASK, from, rule);
        if (found == 0) {
            found = placeBetween(lowest, middle - 1, from, rule);
        }
        if (refused == REFUSALS_MAX) {
            taken.add(lowest);
        }
        return found;
    }

    /// @param lowest displacement, and `highest`, of those that a new page may have
    private long placeBetween(int lowest, int highest, long from, DisplacementRule rule) throws IOException {
        long displacement = rule.firstFrom(lowest);
        while (displacement != DisplacementRule.NONE && (int) displacement <= highest && refused < REFUSALS_MAX) {
            long page = from + (int) displacement & -PAGE;
            if (tried.add(page)) {
                if (code.allocateAt(page, page + PAGE)) {
                    BitSet used = new BitSet(PAGE);
                    open.put(page, used);
                    fresh.add(page);
                    long found = placeIn(page, used, from, rule);
                    if (found != 0) {
                        return found;
                    }
                } else {
                    refused++;
                }
            }
            long next = page + PAGE - from;
            if (next > highest) {
                break;
            }
            displacement = rule.firstFrom((int) next);
        }
        return 0;
    }

    private long placeIn(long page, BitSet used, long from, DisplacementRule rule) {
        long first = Math.max(page - from, lowest(rule));
        long last = Math.min(page + PAGE - hopSize - from, highest(rule));
        while (first <= last) {
            long displacement = rule.firstFrom((int) first);
            int at = (int) (from + (int) displacement - page);
            if (displacement == DisplacementRule.NONE || (int) displacement > last) {
                return 0;
            }
            int taken = used.previousSetBit(at + hopSize - 1);
            if (taken < at) {
                used.set(at, at + hopSize);
                if (used.cardinality() > PAGE - 16 * hopSize) {
                    open.remove(page);
                }
                return page + at;
            }
            first = page + used.nextClearBit(taken) - from;
        }
        return 0;
    }

    /// The pages added since the last call; adjacent pages form one range.
    List<TrampolineRange> newRanges() {
        List<TrampolineRange> ranges = new ArrayList<>();
        long start = 0;
        long end = 0;
        for (long page : fresh) {
            if (page != end) {
                addRange(ranges, start, end);
                start = page;
            }
            end = page + PAGE;
        }
        addRange(ranges, start, end);
        fresh.clear();
        return ranges;
    }

    private static void addRange(List<TrampolineRange> ranges, long start, long end) {
        if (start < end) {
            ranges.add(new TrampolineRange(start, end - start, TrampolineRange.Kind.LEAF));
        }
    }
}
