package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

/// Follows the dynamic linker: new images get their probes, closed ones lose them.
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

    /// Loaded images that have been examined.
    private final Set<LoadedImage> known = new HashSet<>();

    private final List<ProbedImage> probed = new ArrayList<>();

    /// Images that the last [#follow] opened.
    private final List<ProbedImage> opened = new ArrayList<>();

    private int changes;
    private boolean isBlind;

    /// Receives changes of images.
    public interface Listener {
        /// The images that were there when the program started, its own first.
        void started(List<LoadedImage> images);

        /// Cached addresses are no longer valid.
        void changed();

        /// The image of these probes has been closed, and with it their clients.
        void closing(Collection<Integer> probes);
    }

    /// @param notes receives what was found but left alone, for the log
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

    /// Paths of loaded images that have been examined.
    public List<String> paths() {
        return known.stream().map(LoadedImage::path).toList();
    }

    /// Number of changes: images, or functions of theirs, that have come or gone.
    public int changes() {
        return changes;
    }

    /// Whether all images with these paths have got their probes by the session's filter.
    public boolean areSelected(Predicate<String> paths) {
        return known.stream().filter(image -> paths.test(image.path())).allMatch(demands::isSelected);
    }

    /// Images with probes, closed ones included.
    public List<ProbedImage> probed() {
        return probed;
    }

    /// Images whose probes the last [#follow] opened.
    public List<ProbedImage> opened() {
        return opened;
    }

    /// Finds the images opened since the last call and makes their sites switchable, all of them off; removes
    /// the probes of closed images.
    ///
    /// @return false when the application is opening or closing an image, so that the call must be repeated
    ///     later
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
            closeAllBut(Set.copyOf(now), replaced.find(Set.copyOf(now), memory));
            return openAll(now, memory);
        } finally {
            api.releaseImages();
        }
    }

    /// The program may have unmounted /proc, which shows its memory map.
    private boolean canLook() {
        boolean can = MemoryMap.isThere();
        if (!can && !isBlind) {
            notes.add("/proc/self/maps cannot be read any more: what the program opens from now on has no probes");
        }
        isBlind = !can;
        return can;
    }

    /// Maps the files' text over all copies, in this process: no probe is executed until [#showAgain].
    ///
    /// @return false when the application opens or closes an image at this moment
    /// @throws IOException when a file is not what it was, or the kernel refuses; all copies stay
    public boolean hide() throws IOException {
        if (!api.holdImages()) {
            return false;
        }
        try {
            MemoryMap memory = MemoryMap.read();
            Set<LoadedImage> now = Set.copyOf(loaded.read(memory));
            loaded.invalidate();
            closeAllBut(now, replaced.find(now, memory));
            Map<TextCopy, String> copies = new LinkedHashMap<>();
            for (ProbedImage image : probed) {
                ProbedImage.Placement placement = image.current();
                if (placement != null && !replaced.contains(placement.image())) {
                    placement.texts().stream()
                            .map(Trampolines.OfText::shown)
                            .filter(Objects::nonNull)
                            .forEach(copy -> copies.put(copy, image.path()));
                }
            }
            return code.hide(copies);
        } finally {
            api.releaseImages();
        }
    }

    /// Shows the copies again. Images that have gone meanwhile are closed; [#follow] finds those that have come.
    ///
    /// @return false when the application opens or closes an image at this moment
    /// @throws IOException when the kernel refuses
    public boolean showAgain() throws IOException {
        if (!api.holdImages()) {
            return false;
        }
        try {
            closeAllBut(Set.copyOf(loaded.read(MemoryMap.read())), new HashSet<>());
            loaded.invalidate();
            Set<TextCopy> changed = code.showAgain();
            if (changed == null) {
                return false;
            }
            for (ProbedImage image : List.copyOf(probed)) {
                if (image.current() != null && isAmong(image, changed)) {
                    close(image);
                    installer.leaveAlone(image, ChangedTextException.REASON);
                }
            }
            return true;
        } finally {
            api.releaseImages();
        }
    }

    /// @param gone receives what else has gone
    private void closeAllBut(Set<LoadedImage> now, Set<LoadedImage> gone) {
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

    /// Writes what was found out about files, for the next start.
    public void keepFacts() {
        if (discovery != null) {
            discovery.keepFacts();
        }
    }

    /// Its sites are off from now on, also in forked processes, which may still have the image.
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

    /// Gives an image its functions and sites, or those from its earlier time.
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

    /// The outcome of a request for functions.
    ///
    /// @param images  that were meant
    /// @param reasons why there are no probes, or which functions have some; a sentence each
    /// @param symbols of images that have no such function
    public record Demanded(List<String> images, List<String> reasons, List<String> symbols) {}

    /// Gives probes to functions of loaded images that the session's filter has not selected. Other functions
    /// cost nothing. The recorder excludes them until it is told to record them.
    ///
    /// @param wanted names the images ([ProbeFilter#names]) and the functions
    /// @param one    whether it names a single function. In an image with probes by the session's filter, a
    ///     pattern matches only functions that have probes already
    /// @param most   maximum number of functions of an image that get probes
    /// @return null when the application is opening or closing an image, or has done so since the last
    ///     [#follow]
    /// @throws IllegalArgumentException when more functions match; then none of the image has got a probe
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

    /// Installs images and shows their sites. If that fails for images opened later, they have no probes; for
    /// the first images, there is no profile.
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

    /// @return empty when the program has changed its text, so that it is left alone
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

    /// @return what has been closed, null if nothing
    private @Nullable LoadedImage close(ProbedImage image) {
        ProbedImage.Placement placement = image.current();
        if (placement == null) {
            return null;
        }
        close(image, placement);
        return placement.image();
    }

    /// Switches on the sites that the last [#follow] opened, except excluded ones.
    ///
    /// @param onlyUnknown whether only sites of unknown functions are switched on
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
