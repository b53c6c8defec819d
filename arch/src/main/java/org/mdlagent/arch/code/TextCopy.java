package org.mdlagent.arch.code;

import java.util.List;

/// A copy of those parts of a text that have sites: made by [CodeMemory#copy], shown by [CodeMemory#show].
public final class TextCopy {
    private final long textStart;
    private final List<CodeMemory.Mapping> parts;
    private long forksBefore;

    /// @param parts in ascending order
    TextCopy(long textStart, List<CodeMemory.Mapping> parts) {
        this.textStart = textStart;
        this.parts = List.copyOf(parts);
    }

    List<CodeMemory.Mapping> parts() {
        return parts;
    }

    /// Notes how many processes were forked before the copy was shown: none of them can have it.
    void shownAfter(long forks) {
        forksBefore = forks;
    }

    long forksBefore() {
        return forksBefore;
    }

    /// Whether these are the same parts of the text, which starts at `start` now.
    boolean hasParts(long start, List<CodeMemory.Mapping> others) {
        long moved = start - textStart;
        boolean same = others.size() == parts.size();
        for (int i = 0; same && i < parts.size(); i++) {
            same = parts.get(i).start() + moved == others.get(i).start()
                    && parts.get(i).end() + moved == others.get(i).end();
        }
        return same;
    }
}
