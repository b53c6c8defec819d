package org.mdlagent.fastinst.install;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.MemoryMap;

/// Images whose text the program has replaced in memory: by huge pages, or by code that it has changed.
///
/// The replacement may be a copy of the text with probes. So the probes stay for as long as the image is
/// loaded: targets of their jumps are never removed or reused, and the text is not changed.
final class ReplacedTexts {
    private final List<ProbedImage> probed;
    private final List<String> notes;
    private final Set<LoadedImage> images = new HashSet<>();

    /// @param probed all images, kept up to date by their owner
    /// @param notes  receives what was found but left alone, for the log
    ReplacedTexts(List<ProbedImage> probed, List<String> notes) {
        this.probed = probed;
        this.notes = notes;
    }

    /// Finds such images among the loaded ones with probes.
    ///
    /// @return images whose file is mapped anew, in place of their probes: they have been closed and opened
    ///     again
    Set<LoadedImage> find(Collection<LoadedImage> loaded, MemoryMap memory) {
        Set<LoadedImage> anew = new HashSet<>();
        images.retainAll(loaded);
        for (ProbedImage image : probed) {
            ProbedImage.Placement placement = image.current();
            if (placement == null || !loaded.contains(placement.image()) || contains(placement.image())) {
                continue;
            }
            if (placement.texts().stream().allMatch(text -> text.isShown(memory))) {
                continue;
            }
            if (placement.texts().stream()
                    .allMatch(text -> isOfFile(placement.image(), text.start(), text.end(), memory))) {
                anew.add(placement.image());
            } else {
                images.add(placement.image());
                notes.add(
                        image.path()
                                + ": the program has replaced its code in memory: probes there stay as they were at that moment");
            }
        }
        return anew;
    }

    boolean contains(LoadedImage image) {
        return images.contains(image);
    }

    /// Whether `[start, end)` is mapped read-only from the same file as the rest of the image.
    static boolean isOfFile(LoadedImage image, long start, long end, MemoryMap memory) {
        MemoryMap.Region headers = memory.at(image.headers());
        if (headers == null || headers.path().isEmpty()) {
            return false;
        }
        for (long at = start; at < end; ) {
            MemoryMap.Region region = memory.at(at);
            if (region == null || region.writable() || !region.path().equals(headers.path())) {
                return false;
            }
            at = region.end();
        }
        return true;
    }
}
