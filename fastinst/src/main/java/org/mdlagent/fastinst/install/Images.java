package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.ChangedTextException;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TextCopy;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.callpatch.SiteSwitch;
import org.mdlagent.fastinst.provider.Discovery;
import org.mdlagent.fastinst.provider.FunctionSelection;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.LoadedImages;

/// Follows the dynamic linker: images that have come get their probes, those that have gone lose them.
///
/// Long because what comes, what goes and what is asked for share the lists of images.
public final class Images {
    private final NativeApi api;
    private final InstructionSet instructions;
    private final CodeMemory code;
    private final Installer installer;
    private final FunctionSelection selection;
    private final FunctionTable functions;
    private final SiteTable sites;
    private final SiteSwitch siteSwitch;
    private final Listener listener;
    private final List<String> notes;
    private final LoadedImages loaded;
    private final DemandedFunctions demands;
    private final ReplacedTexts replaced;

    /// Null until the images have been read for the first time.
    private @Nullable Discovery discovery;

    /// Images that have been looked at, as long as they are loaded.
    private final Set<LoadedImage> known = new HashSet<>();

    private final List<ProbedImage> probed = new ArrayList<>();

    /// What the last [#follow] has brought.
    private final List<ProbedImage> opened = new ArrayList<>();

    private int changes;
    private boolean isBlind;

    /// Hears what becomes of images.
    public interface Listener {
        /// These were there when the program started, its own first.
        void started(List<LoadedImage> images);

        /// What stands where in memory is not known any more.
        void changed();

        /// The image of these probes has gone, and with it what ran there.
        void closing(Collection<Integer> probes);
    }

    /// @param notes receives what was found and left alone, for the log
    public Images(
            NativeApi api,
            InstructionSet instructions,
            CodeMemory code,
            Installer installer,
            FunctionSelection selection,
            FunctionTable functions,
            SiteTable sites,
            List<String> notes,
            Listener listener) {
        this.api = api;
        this.instructions = instructions;
        this.code = code;
        this.installer = installer;
        this.selection = selection;
        this.functions = functions;
        this.sites = sites;
        siteSwitch = new SiteSwitch(api);
        this.notes = notes;
        this.listener = listener;
        loaded = new LoadedImages(api);
        demands = new DemandedFunctions(api, installer, probed, notes);
        replaced = new ReplacedTexts(probed, notes);
    }

    /// Of those that are loaded, and have been looked at.
    public List<String> paths() {
        return known.stream().map(LoadedImage::path).toList();
    }

    /// Times that images, or functions of theirs, have come or gone.
    public int changes() {
        return changes;
    }

    /// Whether all images of some paths have got their probes by the session's filter.
    public boolean areSelected(Predicate<String> paths) {
        return known.stream().filter(image -> paths.test(image.path())).allMatch(demands::isSelected);
    }

    /// Those with probes, also when they have been closed.
    public List<ProbedImage> probed() {
        return probed;
    }

    /// Those whose probes the last [#follow] has brought.
    public List<ProbedImage> opened() {
        return opened;
    }

    /// Finds the images that have come since the last call, and makes their sites switchable, all of which are off
    /// afterwards; takes the probes of those that have gone.
    ///
    /// @return false when the application opens or closes an image at this moment, so that it must be done later
    /// @throws IOException when code memory is refused
    public boolean follow() throws IOException {
        opened.clear();
        if (!loaded.haveChanged() || discovery != null && !canLook()) {
            return true;
        }
        changes++;
        listener.changed();
        if (!api.holdImages()) {
            return false;
        }
        try {
            MemoryMap memory = MemoryMap.read();
            List<LoadedImage> now = loaded.read(memory);
            closeAllBut(now, memory);
            return openAll(now, memory);
        } finally {
            api.releaseImages();
        }
    }

    /// The program may have unmounted what tells where things stand in its memory.
    private boolean canLook() {
        boolean can = MemoryMap.isThere();
        if (!can && !isBlind) {
            notes.add("/proc/self/maps cannot be read any more: what the program opens from now on has no probes");
        }
        isBlind = !can;
        return can;
    }

    private void closeAllBut(List<LoadedImage> loadedNow, MemoryMap memory) {
        Set<LoadedImage> now = Set.copyOf(loadedNow);
        Set<LoadedImage> gone = replaced.find(now, memory);
        for (ProbedImage image : probed) {
            ProbedImage.Placement placement = image.current();
            if (placement != null && !now.contains(placement.image())) {
                gone.add(placement.image());
            }
        }
        for (ProbedImage image : probed) {
            ProbedImage.Placement placement = image.current();
            if (placement != null && gone.contains(placement.image())) {
                close(image, placement);
            }
        }
        known.stream().filter(image -> !now.contains(image)).forEach(gone::add);
        known.removeAll(gone);
        if (discovery != null) {
            discovery.forget(gone);
        }
    }

    /// Its sites are off from now on: also in forked processes, which may have it still.
    private void close(ProbedImage image, ProbedImage.Placement placement) {
        List<Integer> own = new ArrayList<>();
        image.sites().forEach((offset, index) -> {
            if (sites.get(index).hasStore()) {
                own.add(index);
            }
        });
        List<Integer> probes = sites.withReturns(own);
        siteSwitch.forgetClients(probes);
        listener.closing(probes);
        siteSwitch.toggle(own, false);
        image.close();
        for (int function : image.probedFunctions()) {
            functions.close(function);
        }
        placement.texts().forEach(Trampolines.OfText::forget);
    }

    private boolean openAll(List<LoadedImage> now, MemoryMap memory) throws IOException {
        boolean first = discovery == null;
        Discovery providers =
                first ? new Discovery(api, instructions, now, selection, notes) : Objects.requireNonNull(discovery);
        discovery = providers;
        List<ProbedImage> placed = new ArrayList<>();
        Set<LoadedImage> before = Set.copyOf(known);
        for (ImageProbes probes : discover(providers, now, memory, first)) {
            ProbedImage image = place(probes, memory, first);
            if (image != null) {
                placed.add(image);
            }
            if (image == null || image.lineTables() != probes.elf()) {
                probes.elf().close();
            }
        }
        for (ProbedImage image : probed) {
            if (image.demand() != null && image.current() == null && !image.isLeftOut()) {
                for (LoadedImage come : known) {
                    if (!before.contains(come)
                            && image.current() == null
                            && come.path().equals(image.path())
                            && demands.placeAgain(providers, image, come)) {
                        placed.add(image);
                    }
                }
            }
        }
        if (first) {
            installer.allocateTables();
            listener.started(now);
        }
        boolean shown = show(placed, first);
        sites.publish();
        functions.publish();
        return shown;
    }

    private List<ImageProbes> discover(Discovery providers, List<LoadedImage> now, MemoryMap memory, boolean first) {
        List<ImageProbes> come = new ArrayList<>();
        for (LoadedImage image : now) {
            if (known.contains(image)) {
                continue;
            }
            if (!first && !providers.isRelocated(image, memory)) {
                loaded.invalidate();
                continue;
            }
            known.add(image);
            ImageProbes probes = providers.discover(image);
            if (probes != null) {
                come.add(probes);
            }
        }
        return come;
    }

    /// Gives an image its functions and sites, or those that it had when it was there before.
    ///
    /// @return null when it is left alone
    private @Nullable ProbedImage place(ImageProbes probes, MemoryMap memory, boolean first) throws IOException {
        ProbedImage coming = DemandedFunctions.coming(probes);
        LoadedImage at = probes.image();
        for (ImageProbes.Text text : probes.texts()) {
            if (!ReplacedTexts.isOfFile(at, text.start(), text.end(), memory)) {
                installer.leaveAlone(coming, ChangedTextException.REASON);
                return null;
            }
        }
        for (ProbedImage kept : probed) {
            if (kept.demand() == null && kept.returns(coming)) {
                return installer.place(kept, probes, false, first) ? kept : null;
            }
        }
        probed.add(coming);
        return installer.place(coming, probes, true, first) ? coming : null;
    }

    /// What has become of functions that were asked for.
    ///
    /// @param images  those that were meant
    /// @param reasons why there are no probes, and what has some; a sentence each
    /// @param symbols of images that have no such function
    public record Demanded(List<String> images, List<String> reasons, List<String> symbols) {}

    /// Gives functions probes that the session's filter has not selected, in images that are there. The others cost
    /// nothing. The recorder leaves them out until it is told to record them.
    ///
    /// @param wanted names the images ([ProbeFilter#names]) and the functions
    /// @param one    whether it means one function by its name. A pattern means, where an image has probes by the
    ///     session's filter, those
    /// @param most   functions of an image that may get probes
    /// @return null when the application opens or closes an image, or has since the last [#follow]
    /// @throws IllegalArgumentException when they are more; none of the image has got one then
    public @Nullable Demanded demand(ProbeFilter wanted, boolean one, int most) throws IOException {
        opened.clear();
        if (discovery == null || !api.holdImages()) {
            return null;
        }
        try {
            return loaded.haveChanged() ? null : demandHeld(discovery, wanted, one, most);
        } finally {
            api.releaseImages();
        }
    }

    private @Nullable Demanded demandHeld(Discovery providers, ProbeFilter wanted, boolean one, int most)
            throws IOException {
        Demanded demanded = new Demanded(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        replaced.find(known, MemoryMap.read());
        int notesBefore = notes.size();
        List<ProbedImage> placed = new ArrayList<>();
        for (LoadedImage image : known) {
            if (!wanted.names(image.path())) {
                continue;
            }
            demanded.images.add(image.path());
            if (replaced.contains(image)) {
                demanded.reasons.add(image.path() + ": left alone: " + ChangedTextException.REASON);
            } else if (one || !demands.isSelected(image)) {
                ProbedImage asked = demands.place(providers, image, wanted, one, most, demanded.symbols);
                if (asked != null) {
                    placed.add(asked);
                }
            }
        }
        if (!placed.isEmpty()) {
            changes++;
            listener.changed();
            if (!show(placed, false)) {
                placed.forEach(ProbedImage::leaveOut);
                return null;
            }
            for (ProbedImage image : opened) {
                for (int function : image.probedFunctions()) {
                    functions.leaveOut(function, true);
                }
            }
            sites.publish();
            functions.publish();
        }
        demanded.reasons.addAll(notes.subList(notesBefore, notes.size()));
        return demanded;
    }

    /// Installs images and shows their sites. What cannot be had later leaves them without probes; at first,
    /// there is no profile without it.
    private boolean show(List<ProbedImage> placed, boolean first) throws IOException {
        List<ProbedImage> installed = new ArrayList<>();
        List<TextCopy> copies = new ArrayList<>();
        String refusal = null;
        try {
            for (ProbedImage image : placed) {
                List<TextCopy> own = install(image);
                if (!own.isEmpty()) {
                    installed.add(image);
                    copies.addAll(own);
                }
            }
            Set<TextCopy> changed = code.show(copies);
            if (changed != null) {
                for (ProbedImage image : installed) {
                    if (isAmong(image, changed)) {
                        close(image);
                        installer.leaveAlone(image, ChangedTextException.REASON);
                    } else {
                        opened.add(image);
                    }
                }
                return true;
            }
            loaded.invalidate();
        } catch (IOException | IllegalStateException e) {
            if (first) {
                throw e;
            }
            refusal = e.getMessage();
        }
        for (ProbedImage image : placed) {
            LoadedImage at = close(image);
            if (at != null && image.demand() == null) {
                known.remove(at);
            }
            if (at != null && refusal != null) {
                installer.leaveAlone(image, refusal);
            }
        }
        return refusal != null;
    }

    /// @return nothing when the program has changed its text, so that it is left alone
    private List<TextCopy> install(ProbedImage image) throws IOException {
        try {
            return installer.install(image);
        } catch (ChangedTextException e) {
            close(image);
            installer.leaveAlone(image, ChangedTextException.REASON);
            return List.of();
        }
    }

    private static boolean isAmong(ProbedImage image, Set<TextCopy> changed) {
        return Objects.requireNonNull(image.current()).texts().stream().anyMatch(text -> text.isCopiedTo(changed));
    }

    /// @return what has been closed, null when there was nothing
    private @Nullable LoadedImage close(ProbedImage image) {
        ProbedImage.Placement placement = image.current();
        if (placement == null) {
            return null;
        }
        close(image, placement);
        return placement.image();
    }

    /// Switches on what the last [#follow] has brought, but for what is left out.
    ///
    /// @param onlyUnknown whether only sites are, whose function is not known
    public void activateOpened(boolean onlyUnknown) {
        List<Integer> exits = new ArrayList<>();
        List<Integer> entries = new ArrayList<>();
        for (ProbedImage image : opened) {
            image.sites().forEach((offset, index) -> {
                SiteRecord site = sites.get(index);
                if (isWanted(site, onlyUnknown)) {
                    (site.kind().isExit() ? exits : entries).add(index);
                }
            });
        }
        siteSwitch.toggleCalls(exits, entries, true);
    }

    private boolean isWanted(SiteRecord site, boolean onlyUnknown) {
        FunctionRecord function = site.functionAcquire();
        return function.address() != functions.excluded()
                && !function.isOff()
                && (!onlyUnknown || function.address() == functions.unknown());
    }
}
