package org.mdlagent.fastinst.install;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.provider.Discovery;
import org.mdlagent.fastinst.provider.FunctionSelection;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.LoadedFile;

/// Plans probes of functions requested while their image is loaded: of these functions only.
///
/// Each request adds a [ProbedImage] for the image, beside the one selected by the session's filter. They are
/// opened and closed together.
final class DemandedFunctions {
    private final NativeApi api;
    private final Installer installer;
    private final List<ProbedImage> probed;
    private final List<String> notes;

    /// @param probed all images, including those planned here
    /// @param notes  receives what was found but left alone, for the log
    DemandedFunctions(NativeApi api, Installer installer, List<ProbedImage> probed, List<String> notes) {
        this.api = api;
        this.installer = installer;
        this.probed = probed;
        this.notes = notes;
    }

    /// The selected functions of a named image.
    private interface Chosen extends FunctionSelection {
        @Override
        default boolean names(String image) {
            return true;
        }
    }

    /// Whether the session's filter has found probes there.
    boolean isSelected(LoadedImage image) {
        return probed.stream().anyMatch(other -> other.demand() == null && other.isAt(image));
    }

    /// Plans probes for requested functions that have none yet.
    ///
    /// @param one     whether a single function is meant. If several have its name, as versions of a symbol
    ///     do, none gets a probe if one of them cannot
    /// @param most    maximum number of functions to get probes
    /// @param symbols receives the symbols of an image that has no such function
    /// @return null when there is nothing to be shown
    /// @throws IllegalArgumentException when more functions match
    @Nullable
    ProbedImage place(
            Discovery discovery, LoadedImage image, ProbeFilter wanted, boolean one, int most, List<String> symbols) {
        FilteredFunctions filtered = new FilteredFunctions(api, wanted);
        List<ProbedImage> others =
                probed.stream().filter(other -> other.isAt(image)).toList();
        Chosen more = (loadedImage, elf) -> {
            LongPredicate meant = filtered.of(loadedImage, elf);
            return offset -> meant.test(offset)
                    && others.stream().noneMatch(other -> other.functions().contains(offset));
        };
        int notesBefore = notes.size();
        try {
            ImageProbes probes = discovery.discover(image, more, notes);
            int found = probes.texts().stream()
                    .mapToInt(text -> text.sites().size())
                    .sum();
            if (found > most) {
                throw new IllegalArgumentException(found + " functions of " + image.path()
                        + " would get probes, more than the " + most + " that may be: narrow the request");
            }
            boolean refused = notes.size() > notesBefore;
            if (!refused && probes.texts().isEmpty()) {
                SymbolTable all = probes.elf().symbols();
                for (int i = 0; i < all.size(); i++) {
                    symbols.addAll(all.names(i));
                }
            }
            return probes.texts().isEmpty() || one && refused ? null : placeNew(probes, filtered);
        } catch (IOException e) {
            notes.add(image.path() + ": " + e.getMessage());
            return null;
        }
    }

    private @Nullable ProbedImage placeNew(ImageProbes probes, FilteredFunctions wanted) throws IOException {
        ProbedImage coming = coming(probes);
        coming.demandedBy(wanted);
        ElfFile lines = LoadedFile.open(probes.image());
        probed.add(coming);
        if (installer.place(coming, probes, true, false) && coming.functions().size() > 0) {
            coming.lineTables(lines);
            return coming;
        }
        probed.remove(coming);
        lines.close();
        return null;
    }

    /// Gives requested functions their probes again after their image has come back.
    ///
    /// @return whether it is the same image
    boolean placeAgain(Discovery discovery, ProbedImage image, LoadedImage come) {
        Chosen own = (unused, elf) -> image.functions()::contains;
        try {
            ImageProbes probes = discovery.discover(come, own, notes);
            boolean same = !probes.texts().isEmpty() && image.returns(coming(probes));
            return same && installer.place(image, probes, false, false);
        } catch (IOException e) {
            notes.add(come.path() + ": " + e.getMessage());
            return false;
        }
    }

    static ProbedImage coming(ImageProbes probes) throws IOException {
        String build = probes.elf().buildId();
        return new ProbedImage(probes.image().path(), content(probes), build == null ? "" : build);
    }

    /// Distinguishes builds with the same path.
    private static String content(ImageProbes probes) throws IOException {
        String build = probes.elf().buildId();
        return build != null ? build : Long.toString(new File(probes.image().path()).lastModified());
    }
}
