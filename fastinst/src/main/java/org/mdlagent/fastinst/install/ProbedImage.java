package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.OffsetTable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.fastinst.provider.FunctionRanges;

/// An image that has, or had, probes.
///
/// What it has is kept for its return when it is closed: its records in the session, so that its counts go on, and
/// its trampolines, which are good for the addresses where it stood. So whoever opens and closes a library over and
/// over uses up nothing; and trampolines need not be freed, which a thread may still return to, for a function may
/// leave its library by a sibling call.
public final class ProbedImage {
    /// The kernel mostly maps a library where it was before.
    private static final int PLACEMENTS_MAX = 8;

    /// In place of the index of a site that there is not.
    public static final int NO_SITE = -1;

    private final String path;
    private final String content;
    private final String build;

    /// Index of each function's record by the offset of its address; -1 where the filter leaves it out.
    private final OffsetTable functions = new OffsetTable();

    /// Index of each site's record by the offset of its address, in ascending order.
    private final OffsetTable sites = new OffsetTable();

    private final List<Placement> placements = new ArrayList<>();
    private @Nullable FunctionRanges ranges;
    private @Nullable Placement current;
    private @Nullable ElfFile lineTables;

    /// What somebody has asked for while it was loaded; null where the session's filter has chosen.
    private @Nullable FilteredFunctions demand;

    private boolean leftOut;

    /// Where it stands or has stood.
    ///
    /// @param texts what its sites lead to there
    public record Placement(LoadedImage image, List<Trampolines.OfText> texts) {
        public long bias() {
            return image.bias();
        }

        public List<Trampolines.Site> sites() {
            return texts.stream().flatMap(text -> text.sites().stream()).toList();
        }
    }

    /// @param content tells it from others that were at that path
    /// @param build   its build id, "" when it has none
    public ProbedImage(String path, String content, String build) {
        this.path = path;
        this.content = content;
        this.build = build;
    }

    public String path() {
        return path;
    }

    public String build() {
        return build;
    }

    @Nullable
    FilteredFunctions demand() {
        return demand;
    }

    /// Its functions are those that somebody has asked for while it was loaded.
    void demandedBy(FilteredFunctions wanted) {
        demand = wanted;
    }

    /// From now on it has no probes.
    public void leaveOut() {
        leftOut = true;
        current = null;
        functions.clear();
        sites.clear();
    }

    public boolean isLeftOut() {
        return leftOut;
    }

    /// Whether it has been closed, and is the image that has come.
    public boolean returns(ProbedImage coming) {
        return current == null && path.equals(coming.path) && content.equals(coming.content);
    }

    public OffsetTable functions() {
        return functions;
    }

    /// Indices of those functions that the filter lets have probes.
    public int[] probedFunctions() {
        int[] all = new int[functions.size()];
        int count = 0;
        for (int i = 0; i < all.length; i++) {
            all[count] = functions.number(i);
            count += all[count] >= 0 ? 1 : 0;
        }
        return Arrays.copyOf(all, count);
    }

    /// Its code.
    ///
    /// @throws NullPointerException before it is known
    public FunctionRanges ranges() {
        return Objects.requireNonNull(ranges);
    }

    public void ranges(FunctionRanges ranges) {
        this.ranges = ranges;
    }

    public OffsetTable sites() {
        return sites;
    }

    /// Index of the site at an address, [#NO_SITE] when it has none there.
    int siteAt(long address) {
        return sites.get(offset(address), NO_SITE);
    }

    /// @throws NullPointerException when it is closed
    long offset(long address) {
        return address - Objects.requireNonNull(current).bias();
    }

    /// Whether it is that image, there.
    boolean isAt(LoadedImage image) {
        return current != null && current.image().equals(image);
    }

    /// Where it stands now, null when it is closed.
    @Nullable
    public Placement current() {
        return current;
    }

    /// @throws IOException when it has been at too many addresses
    public void open(Placement placement) throws IOException {
        if (!placements.contains(placement)) {
            if (placements.size() == PLACEMENTS_MAX) {
                throw new IOException("it has been at too many addresses");
            }
            placements.add(placement);
        }
        current = placement;
    }

    public void close() {
        current = null;
    }

    /// That of an earlier time at the same address, null when there was none.
    @Nullable
    public Placement placementAt(LoadedImage image) {
        for (Placement placement : placements) {
            if (placement.image.equals(image)) {
                return placement;
            }
        }
        return null;
    }

    /// The file whose line tables have not been read yet, null when they have.
    @Nullable
    public ElfFile lineTables() {
        return lineTables;
    }

    public void lineTables(@Nullable ElfFile file) {
        lineTables = file;
    }
}
