package org.mdlagent.fastinst.calls;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.fastinst.install.ProbedImage;
import org.mdlagent.fastinst.install.Trampolines;
import org.mdlagent.fastinst.provider.FunctionRanges;

/// Finds the owner of a code address: a probed function, the agent, or another part of an image. Used by one
/// thread, the agent's.
public final class CodePlaces {
    /// No function with probes.
    public static final int NONE = ReturnSite.NONE;

    /// The shim, and code that it generated.
    public static final int OURS = -2;

    /// Minimum interval between reads of the memory map, which is read again for an address in no known
    /// mapping.
    private static final long REREAD_NANOS = 10_000_000_000L;

    private static final String SHIM = "/libmdlagent.so";

    /// The file in memory that contains the copies of texts and all other generated code.
    private static final String TEXTS = "/memfd:mdl-text";

    private final List<ProbedImage> images;
    private final ReturnSites sites;
    private @Nullable MemoryMap memory;
    private long readNanos;

    /// @param images that have or had probes; more may be added
    public CodePlaces(List<ProbedImage> images, ReturnSites sites) {
        this.images = images;
        this.sites = sites;
    }

    /// Drops cached addresses: images have come or gone.
    public void forget() {
        memory = null;
    }

    /// The owner of a code address.
    ///
    /// @param function index of the function that contains the code or is inlined there; or [#OURS] or
    ///     [#NONE]
    /// @param outer    index of the function into which that one is inlined; [#NONE] if it is not inlined
    /// @param image    path of the image that contains other code; "" if none does
    public record Place(int function, int outer, String image) {}

    public Place at(long address) {
        for (ProbedImage image : images) {
            ProbedImage.Placement placement = image.current();
            for (Trampolines.OfText text : placement == null ? List.<Trampolines.OfText>of() : placement.texts()) {
                if (text.holds(address)) {
                    return new Place(OURS, NONE, "");
                }
            }
        }
        int function = sites.functionAt(address);
        if (function != NONE) {
            int outer = sites.outermostAt(address);
            return new Place(function, outer == function ? NONE : outer, "");
        }
        ProbedImage image = imageWithProbes(address);
        String path = image == null ? path(address) : image.path();
        boolean ours = image == null && (path.endsWith(SHIM) || path.startsWith(TEXTS));
        return ours ? new Place(OURS, NONE, "") : new Place(NONE, NONE, path);
    }

    /// Its text may be a copy, for which the kernel has another path.
    private @Nullable ProbedImage imageWithProbes(long address) {
        for (ProbedImage image : images) {
            ProbedImage.Placement placement = image.current();
            if (placement != null && image.ranges().size() > 0) {
                FunctionRanges ranges = image.ranges();
                long offset = address - placement.bias();
                if (offset >= ranges.get(0).start()
                        && offset < ranges.get(ranges.size() - 1).end()) {
                    return image;
                }
            }
        }
        return null;
    }

    private String path(long address) {
        MemoryMap.Region region = memory == null ? null : memory.at(address);
        long now = System.nanoTime();
        if (region == null && (memory == null || now - readNanos > REREAD_NANOS)) {
            readNanos = now;
            memory = read();
            region = memory.at(address);
        }
        return region == null ? "" : region.path();
    }

    private static MemoryMap read() {
        try {
            return MemoryMap.read();
        } catch (IOException e) {
            return new MemoryMap(List.of());
        }
    }
}
