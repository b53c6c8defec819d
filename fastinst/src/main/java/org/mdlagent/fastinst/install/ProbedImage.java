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

/// An image that has or had probes.
///
/// When an image is closed, its data is kept for its return: its session records, so that counts continue,
/// and its trampolines, which remain valid for the addresses where it was. So opening and closing a library
/// repeatedly uses up nothing. Trampolines are never freed, because a thread may still return to one: a
/// function may leave its library by a sibling call.
public final class ProbedImage {
    /// The kernel mostly maps a library at its former address.
    private static final int PLACEMENTS_MAX = 8;

    /// Stands for the index of a missing site.
    public static final int NO_SITE = -1;

    private final String path;
    private final String content;
    private final String build;

    /// Index of each function's record by the offset of its address; -1 if the filter excludes it.
    private final OffsetTable functions = new OffsetTable();

    /// Index of each site's record by the offset of its address, in ascending order.
    private final OffsetTable sites = new OffsetTable();

    private final List<Placement> placements = new ArrayList<>();
    private @Nullable FunctionRanges ranges;
    private @Nullable Placement current;
    private @Nullable ElfFile lineTables;

    /// The functions requested while it was loaded; null if the session's filter selected its functions.
    private @Nullable FilteredFunctions demand;

    private boolean leftOut;

    /// An address where it is or was.
    ///
    /// @param texts targets of its sites there
    public record Placement(LoadedImage image, List<Trampolines.OfText> texts) {
        public long bias() {
            return image.bias();
        }

        public List<Trampolines.Site> sites() {
            return texts.stream().flatMap(text -> text.sites().stream()).toList();
        }
    }

    /// @param content distinguishes it from other images with that path
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

    /// Its functions are those requested while it was loaded.
    void demandedBy(FilteredFunctions wanted) {
        demand = wanted;
    }

    /// It has no probes from now on.
    public void leaveOut() {
        leftOut = true;
        current = null;
        functions.clear();
        sites.clear();
    }

    public boolean isLeftOut() {
        return leftOut;
    }

    /// Whether this is a closed image and `coming` is the same image.
    public boolean returns(ProbedImage coming) {
        return current == null && path.equals(coming.path) && content.equals(coming.content);
    }

    public OffsetTable functions() {
        return functions;
    }

    /// Indices of the functions that the filter includes.
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

    /// Index of the site at an address, [#NO_SITE] if there is none.
    int siteAt(long address) {
        return sites.get(offset(address), NO_SITE);
    }

    /// @throws NullPointerException when it is closed
    long offset(long address) {
        return address - Objects.requireNonNull(current).bias();
    }

    /// Whether it is that image, at that address.
    boolean isAt(LoadedImage image) {
        return current != null && current.image().equals(image);
    }

    /// Its current placement, null when it is closed.
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

    /// An earlier placement at the same address, null if there was none.
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
