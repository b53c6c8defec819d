package org.mdlagent.fastinst.install;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.mdlagent.arch.site.SiteKind;

/// Data about a probed function that is not in its record.
final class ProbedFunction {
    private static final int[] NONE = {};

    final ProbedImage image;

    /// Offset of its address in the image.
    final long offset;

    /// Offset of its demangled name in the session.
    final int name;

    /// Offset of its symbol in the session.
    final int symbol;

    /// Its tier before its first call.
    final Tier first;

    /// Whether the user named that tier.
    final boolean named;

    /// Indices of its sites.
    private int[] entries = NONE;

    private int[] exits = NONE;

    /// @param symbol offset of its symbol in the session
    /// @param name   offset of its demangled name in the session
    ProbedFunction(ProbedImage image, long offset, int symbol, int name, Tier first, boolean named) {
        this.image = image;
        this.offset = offset;
        this.symbol = symbol;
        this.name = name;
        this.first = first;
        this.named = named;
    }

    /// Indices of its entry sites; a whole function has one.
    int[] entries() {
        return entries;
    }

    /// Indices of its exit sites.
    int[] exits() {
        return exits;
    }

    /// Adds a site.
    void add(int site, SiteKind kind) {
        if (kind.isExit()) {
            exits = with(exits, site);
        } else {
            entries = with(entries, site);
        }
    }

    private static int[] with(int[] sites, int site) {
        int[] more = Arrays.copyOf(sites, sites.length + 1);
        more[sites.length] = site;
        return more;
    }

    /// @return whether it had any of them
    boolean remove(IntPredicate gone) {
        int before = entries.length + exits.length;
        entries = without(entries, gone);
        exits = without(exits, gone);
        return entries.length + exits.length < before;
    }

    private static int[] without(int[] sites, IntPredicate gone) {
        int kept = 0;
        int[] rest = sites.clone();
        for (int site : sites) {
            rest[kept] = site;
            kept += gone.test(site) ? 0 : 1;
        }
        return kept == sites.length ? sites : Arrays.copyOf(rest, kept);
    }
}
