package org.mdlagent.fastinst.provider;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;

/// The dynamic linker's list of images, except those of the agent.
public final class LoadedImages {
    private final NativeApi api;
    private final Path library;

    /// The dynamic linker's counters when the list was last read.
    private long counters;

    public LoadedImages(NativeApi api) {
        this.api = api;
        library = Path.of(api.libraryDirectory());
    }

    /// Whether images may have come or gone since the list was read.
    public boolean haveChanged() {
        return api.imageCounters() != counters;
    }

    /// Reads the list, the executable first.
    ///
    /// @param memory resolves the file of an image that was opened by a relative path
    public List<LoadedImage> read(MemoryMap memory) {
        counters = api.imageCounters();
        List<LoadedImage> images = new ArrayList<>();
        for (LoadedImage image : api.images()) {
            String path = image.path();
            MemoryMap.Region region = path.startsWith("/") ? null : memory.at(image.headers());
            if (region != null) {
                path = region.path();
            }
            if (path.startsWith("/") && !isAgents(Path.of(path).normalize())) {
                images.add(new LoadedImage(path, image.bias(), image.headers(), image.headerCount()));
            }
        }
        return images;
    }

    /// Marks the list as changed, so that it is read again.
    public void invalidate() {
        counters = 0;
    }

    /// Whether an image is the shim, its decoder, or part of the Java runtime beside it.
    private boolean isAgents(Path image) {
        String name = image.getFileName().toString();
        return image.startsWith(library.resolveSibling("runtime"))
                || image.startsWith(library)
                        && (name.equals("libmdlagent.so")
                                || name.startsWith("libZydis.so")
                                || name.startsWith("libZycore.so"));
    }
}
