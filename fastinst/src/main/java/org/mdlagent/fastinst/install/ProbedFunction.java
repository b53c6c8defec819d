package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.site.SiteKind;

/// What is known of a probed function beside its record.
final class ProbedFunction {
    final ProbedImage image;

    /// Of its address in the image.
    final long offset;

    final String symbol;
    final String name;

    /// Before its first call.
    final Tier first;

    /// Whether somebody has named that tier.
    final boolean named;

    /// Indices of its sites.
    final List<Integer> entries = new ArrayList<>(1);

    final List<Integer> exits = new ArrayList<>(2);

    ProbedFunction(ProbedImage image, long offset, String symbol, String name, Tier first, boolean named) {
        this.image = image;
        this.offset = offset;
        this.symbol = symbol;
        this.name = name;
        this.first = first;
        this.named = named;
    }

    /// Those that a site of a kind is one of. That of a whole function is an entry.
    List<Integer> sites(SiteKind kind) {
        return kind.isExit() ? exits : entries;
    }
}
