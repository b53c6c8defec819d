package org.mdlagent.fastinst;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.LoadedImage;
import org.mdlagent.arch.elf.ElfFile;

/// An image that has, or had, probes.
///
/// What it has is kept for its return when it is closed: its records in the session, so that its counts go on, and
/// its trampolines, which are good for the addresses where it stood. So whoever opens and closes a library over and
/// over uses up nothing; and trampolines need not be freed, which a thread may still return to, for a function may
/// leave its library by a sibling call.
final class Library {
    /// The kernel mostly maps a library where it was before.
    private static final int PLACEMENTS_MAX = 8;

    private final String path;
    private final String content;
    private final String build;

    /// Index of each function's record by the offset of its address; -1 where the filter leaves it out.
    private final Map<Long, Integer> functions = new HashMap<>();

    /// Index of each site's record by the offset of its address, in ascending order.
    private final Map<Long, Integer> sites = new LinkedHashMap<>();

    private final List<Placement> placements = new ArrayList<>();
    private @Nullable FunctionRanges ranges;
    private @Nullable Placement current;
    private @Nullable ElfFile lineTables;
    private boolean leftOut;

    /// Where it stands or has stood.
    ///
    /// @param texts what its sites lead to there
    record Placement(LoadedImage image, List<Trampolines.OfText> texts) {
        long bias() {
            return image.bias();
        }

        List<Trampolines.Site> sites() {
            return texts.stream().flatMap(text -> text.sites().stream()).toList();
        }
    }

    /// @param content tells it from others that were at that path
    /// @param build   its build id, "" when it has none
    Library(String path, String content, String build) {
        this.path = path;
        this.content = content;
        this.build = build;
    }

    String path() {
        return path;
    }

    String build() {
        return build;
    }

    /// From now on it has no probes.
    void leaveOut() {
        leftOut = true;
        current = null;
        functions.clear();
        sites.clear();
    }

    boolean isLeftOut() {
        return leftOut;
    }

    /// Whether it has been closed, and is the image that has come.
    boolean returns(Library coming) {
        return current == null && path.equals(coming.path) && content.equals(coming.content);
    }

    Map<Long, Integer> functions() {
        return functions;
    }

    /// Indices of those functions that the filter lets have probes.
    List<Integer> probedFunctions() {
        return functions.values().stream().filter(index -> index >= 0).toList();
    }

    /// Its code.
    ///
    /// @throws NullPointerException before it is known
    FunctionRanges ranges() {
        return Objects.requireNonNull(ranges);
    }

    void ranges(FunctionRanges ranges) {
        this.ranges = ranges;
    }

    Map<Long, Integer> sites() {
        return sites;
    }

    /// Where it stands now, null when it is closed.
    @Nullable
    Placement current() {
        return current;
    }

    /// @throws IOException when it has been at too many addresses
    void open(Placement placement) throws IOException {
        if (!placements.contains(placement)) {
            if (placements.size() == PLACEMENTS_MAX) {
                throw new IOException("it has been at too many addresses");
            }
            placements.add(placement);
        }
        current = placement;
    }

    void close() {
        current = null;
    }

    /// That of an earlier time at the same address, null when there was none.
    @Nullable
    Placement placementAt(LoadedImage image) {
        for (Placement placement : placements) {
            if (placement.image.equals(image)) {
                return placement;
            }
        }
        return null;
    }

    /// The file whose line tables have not been read yet, null when they have.
    @Nullable
    ElfFile lineTables() {
        return lineTables;
    }

    void lineTables(@Nullable ElfFile file) {
        lineTables = file;
    }
}
