package org.mdlagent.fastinst.install;

import java.io.File;
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

    /// Null until the images have been read for the first time.
    private @Nullable Discovery discovery;

    /// Images that have been looked at, as long as they are loaded.
    private final Set<LoadedImage> known = new HashSet<>();

    private final List<ProbedImage> probed = new ArrayList<>();

    /// What the last [#follow] has brought.
    private final List<ProbedImage> opened = new ArrayList<>();

    private int changes;

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
    }

    /// Times that images have come or gone.
    public int changes() {
        return changes;
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
        if (!loaded.haveChanged()) {
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

    private void closeAllBut(List<LoadedImage> now, MemoryMap memory) {
        for (ProbedImage image : probed) {
            ProbedImage.Placement placement = image.current();
            // The same may be there again: then its text is that of the file.
            if (placement != null
                    && (!now.contains(placement.image())
                            || !placement.texts().stream().allMatch(text -> text.isShown(memory)))) {
                close(image, placement);
            }
        }
        known.retainAll(now);
    }

    /// Its sites are off from now on: also in forked processes, which may have it still.
    private void close(ProbedImage image, ProbedImage.Placement placement) {
        List<Integer> own = image.sites().values().stream()
                .filter(index -> sites.get(index).hasStore())
                .toList();
        List<Integer> probes = sites.withReturns(own);
        siteSwitch.forgetClients(probes);
        listener.closing(probes);
        siteSwitch.toggle(own, false);
        image.close();
        image.probedFunctions().forEach(functions::close);
        placement.texts().forEach(Trampolines.OfText::forget);
        known.remove(placement.image());
    }

    private boolean openAll(List<LoadedImage> now, MemoryMap memory) throws IOException {
        boolean first = discovery == null;
        Discovery providers =
                first ? new Discovery(api, instructions, now, selection, notes) : Objects.requireNonNull(discovery);
        discovery = providers;
        List<ProbedImage> placed = new ArrayList<>();
        for (ImageProbes probes : discover(providers, now, memory, first)) {
            ProbedImage image = place(probes, first);
            if (image != null) {
                placed.add(image);
            }
            if (image == null || image.lineTables() != probes.elf()) {
                probes.elf().close();
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
    private @Nullable ProbedImage place(ImageProbes probes, boolean first) throws IOException {
        String build = probes.elf().buildId();
        ProbedImage coming = new ProbedImage(probes.image().path(), content(probes), build == null ? "" : build);
        for (ProbedImage kept : probed) {
            if (kept.returns(coming)) {
                return installer.place(kept, probes, false, first) ? kept : null;
            }
        }
        probed.add(coming);
        return installer.place(coming, probes, true, first) ? coming : null;
    }

    /// What tells builds of one path apart.
    private static String content(ImageProbes probes) throws IOException {
        String build = probes.elf().buildId();
        return build != null ? build : Long.toString(new File(probes.image().path()).lastModified());
    }

    /// Installs images and shows their sites. What cannot be had later leaves them without probes; at first,
    /// there is no profile without it.
    private boolean show(List<ProbedImage> placed, boolean first) throws IOException {
        List<TextCopy> copies = new ArrayList<>();
        String refusal = null;
        try {
            for (ProbedImage image : placed) {
                copies.addAll(installer.install(image));
            }
            if (code.show(copies)) {
                opened.addAll(placed);
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
            close(image, Objects.requireNonNull(image.current()));
            if (refusal != null) {
                installer.leaveAlone(image, refusal);
            }
        }
        return refusal != null;
    }

    /// Switches on what the last [#follow] has brought, but for what is left out.
    ///
    /// @param onlyUnknown whether only sites are, whose function is not known
    public void activateOpened(boolean onlyUnknown) {
        List<Integer> wanted = opened.stream()
                .flatMap(image -> image.sites().values().stream())
                .filter(index -> isWanted(sites.get(index), onlyUnknown))
                .toList();
        Predicate<Integer> isExit = index -> sites.get(index).kind().isExit();
        siteSwitch.toggleCalls(
                wanted.stream().filter(isExit).toList(),
                wanted.stream().filter(isExit.negate()).toList(),
                true);
    }

    private boolean isWanted(SiteRecord site, boolean onlyUnknown) {
        FunctionRecord function = site.functionAcquire();
        return function.address() != functions.excluded()
                && !function.isOff()
                && (!onlyUnknown || function.address() == functions.unknown());
    }
}
