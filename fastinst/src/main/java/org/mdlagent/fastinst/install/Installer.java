package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.TextCopy;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteKind;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.fastinst.provider.FunctionRanges;
import org.mdlagent.fastinst.provider.ImageProbes;

/// Gives the functions and sites of an image their records, and makes the sites in a copy of its text.
///
///  1. [#place]: assigns indices of functions and sites, trampolines, and how each site will be patched.
///     Nothing is written to the tables, which need not exist yet
///  2. [#install]: copies the text; writes stubs, sites and records
public final class Installer {
    /// Room in the session's tables for images opened later. A site takes 88 bytes. A function takes 160
    /// bytes, and in each thread's block 8, or 16 in exact and mixed mode.
    private static final int SITES_OF_FUNCTION = 4;

    private final Trampolines trampolines;
    private final CallPatch callPatch;
    private final SessionTables tables;
    private final FunctionTable functions;
    private final SiteTable sites;
    private final LearnedSites learned;
    private final SourceLines lines;
    private final ProbeFilter filter;
    private final FilteredFunctions filtered;
    private final int laterFunctions;
    private final List<String> notes;
    private final @Nullable FunctionCopies copies;
    private final BlockTable blocks;

    /// @param laterFunctions room for functions of images opened later
    /// @param notes          receives what was found but left alone, for the log
    /// @param copies         of functions, to count their blocks; null when no blocks are counted
    public Installer(
            Trampolines trampolines,
            CallPatch callPatch,
            SessionTables tables,
            FunctionTable functions,
            SiteTable sites,
            LearnedSites learned,
            SourceLines lines,
            ProbeFilter filter,
            FilteredFunctions filtered,
            int laterFunctions,
            List<String> notes,
            @Nullable FunctionCopies copies,
            BlockTable blocks) {
        this.trampolines = trampolines;
        this.callPatch = callPatch;
        this.tables = tables;
        this.functions = functions;
        this.sites = sites;
        this.learned = learned;
        this.lines = lines;
        this.filter = filter;
        this.filtered = filtered;
        this.laterFunctions = laterFunctions;
        this.notes = notes;
        this.copies = copies;
        this.blocks = blocks;
    }

    /// Allocates the session's tables, with room for all that has been placed and for more.
    void allocateTables() {
        functions.allocate(laterFunctions);
        sites.allocate(SITES_OF_FUNCTION * laterFunctions);
        blocks.publish();
    }

    /// Gives an image its functions and the indices of its sites, or those from its earlier time.
    ///
    /// @param isNew whether it was not there before
    /// @param first whether there are no tables yet, so that there is room for all
    /// @return whether it has probes; otherwise it is left alone
    /// @throws IOException when the first images cannot be placed
    boolean place(ProbedImage image, ImageProbes probes, boolean isNew, boolean first) throws IOException {
        if (image.isLeftOut()) {
            return false;
        }
        int firstFunction = functions.count();
        int firstSite = sites.count();
        String refusal = null;
        try {
            ProbedImage.Placement placement = image.placementAt(probes.image());
            boolean comes = placement == null;
            if (placement == null) {
                placement = new ProbedImage.Placement(probes.image(), plan(probes));
            }
            if (isNew) {
                register(image, probes, placement);
                image.lineTables(image.demand() == null ? probes.elf() : null);
            }
            if (comes && copies != null) {
                Map<Long, Long> entries = copies.copy(image, probes);
                placement.texts().forEach(text -> text.enter(entries));
            }
            image.open(placement);
        } catch (IOException | IllegalStateException e) {
            if (first) {
                throw e;
            }
            refusal = e.getMessage();
        }
        String size = functions.count() - firstFunction + " functions, " + (sites.count() - firstSite) + " sites";
        if (refusal == null && !first && !(functions.hasRoom() && sites.hasRoom())) {
            refusal = "the session has no room for " + size + "; see --library-functions";
        }
        if (refusal != null) {
            leaveAlone(image, refusal);
            image.lineTables(null);
            functions.release(firstFunction);
            sites.release(firstSite);
        } else if (isNew && !first) {
            notes.add(image.path() + (image.demand() == null ? ": opened, " : ": asked for, ") + size);
        }
        return refusal == null;
    }

    void leaveAlone(ProbedImage image, String reason) {
        notes.add(image.path() + ": left alone: " + reason);
        tables.refuse(1, image.probedFunctions().length);
        image.leaveOut();
    }

    private List<Trampolines.OfText> plan(ImageProbes image) throws IOException {
        List<Trampolines.OfText> texts = new ArrayList<>();
        int refused = 0;
        for (ImageProbes.Text text : image.texts()) {
            Trampolines.OfText planned = trampolines.plan(text);
            texts.add(planned);
            refused += planned.refused();
        }
        if (refused > 0) {
            tables.refuse(0, refused);
            notes.add(image.image().path() + ": " + refused
                    + " functions left alone: no free memory within reach of their jumps");
        }
        return texts;
    }

    /// Registers a function for every address that a site of the image names, if the filter includes it. A
    /// site that names none is mostly in its own function, or in one that names that function elsewhere.
    private void register(ProbedImage image, ImageProbes probes, ProbedImage.Placement placement) throws IOException {
        SymbolTable symbols = probes.elf().symbols();
        long bias = placement.bias();
        Map<Long, String> files = filter.needsFiles() && image.demand() == null ? lines.files(probes) : Map.of();
        for (Trampolines.Site site : placement.sites()) {
            SiteInstruction hook = site.hook();
            image.sites()
                    .put(hook.address() - bias, sites.reserve(SiteKind.of(hook).records()));
            long offset = hook.function() - bias;
            if (hook.function() == 0) {
                int around = hook.role() == SiteInstruction.Role.EXIT ? -1 : symbols.containing(hook.address() - bias);
                if (around < 0) {
                    continue;
                }
                offset = symbols.start(around);
            }
            if (!image.functions().contains(offset)) {
                image.functions()
                        .put(
                                offset,
                                register(
                                        image, offset, symbols, files.isEmpty() ? "" : files.getOrDefault(offset, "")));
            }
        }
        image.ranges(FunctionRanges.of(probes.image(), probes.elf(), image.functions()));
    }

    /// @return the function's index, -1 when the filter excludes it
    private int register(ProbedImage image, long offset, SymbolTable symbols, String file) throws IOException {
        FilteredFunctions demand = image.demand();
        FilteredFunctions chosen = demand == null ? filtered : demand;
        String symbol = chosen.included(image.path(), offset, symbols, file);
        if (symbol == null) {
            return -1;
        }
        String name = chosen.name(symbol);
        Tier named = chosen.tier(image.path(), file, name);
        // Its call rate is unknown so far; most functions are called rarely.
        Tier first = named == null ? Tier.EXACT : named;
        int symbolText = text(symbol, demand != null);
        int nameText = name.equals(symbol) ? symbolText : text(name, demand != null);
        return functions.add(new ProbedFunction(image, offset, symbolText, nameText, first, named != null));
    }

    /// @param demanded whether the function was requested: a refused request may be repeated, for the same
    ///     memory
    private int text(String name, boolean demanded) {
        return demanded ? tables.string(name) : tables.newString(name);
    }

    /// Copies an image's text and makes its sites in the copy, which nobody executes; writes trampolines and
    /// records.
    ///
    /// @return what is to be shown
    /// @throws IOException when code memory is refused
    List<TextCopy> install(ProbedImage image) throws IOException {
        ProbedImage.Placement placement = Objects.requireNonNull(image.current());
        blocks.publish();
        List<TextCopy> shown = new ArrayList<>();
        int[] own = image.probedFunctions();
        for (int function : own) {
            functions.describe(function);
        }
        for (Trampolines.OfText text : placement.texts()) {
            shown.add(text.copy());
            for (Trampolines.Site site : text.sites()) {
                int index = image.siteAt(site.hook().address());
                if (index == ProbedImage.NO_SITE) {
                    continue; // It was out of reach at the image's first address.
                }
                text.write(site, sites.get(index).address());
                describe(image, index, site);
                text.writeCounter(site, sites.get(index).functionAcquire().index());
                callPatch.prepare(site.plan());
                PatchPlan jump = site.jump();
                if (jump != null) {
                    install(index, site, jump, image.demand() == null);
                }
            }
            text.makeKnown();
        }
        for (Trampolines.OfText text : placement.texts()) {
            StubBodies bodies = text.bodies(tables);
            for (Trampolines.Site site : text.sites()) {
                openToClients(image.siteAt(site.hook().address()), site.hook(), bodies);
            }
        }
        for (int function : own) {
            if (functions.get(function).siteList() == 0) {
                functions.writeSites(function);
            } else {
                functions.publishSites(function);
            }
        }
        return shown;
    }

    /// Makes a jump that takes several stores. It is installed from the start if the recorder wants it at once,
    /// or if it cannot be installed later.
    private void install(int index, Trampolines.Site site, PatchPlan jump, boolean first) {
        EntryPun.Cut cut = Objects.requireNonNull(
                Objects.requireNonNull(site.probe().displaced()).pun().cut());
        boolean passes = trampolines.isPassable(cut, jump);
        boolean shown = !passes || first && tables.isProfiled();
        if (shown) {
            callPatch.prepareOn(jump);
        }
        if (passes) {
            sites.takeSteps(index, jump, cut, shown);
        }
    }

    /// Writes a site's record, or what has changed while its image was closed, but not its learned function.
    private void describe(ProbedImage image, int index, Trampolines.Site site) {
        int owner = image.ranges().at(image.offset(site.hook().address()));
        long ownerRecord = owner == FunctionRanges.NONE ? 0 : functions.address(owner);
        SiteKind kind = SiteKind.of(site.hook());
        if (sites.get(index).hasFunction()) {
            sites.describe(index, site);
            sites.locate(index, kind, image.path(), ownerRecord);
        } else {
            sites.create(
                    index, site, tables.string(image.path()), functionOf(image, index, kind, site.hook()), ownerRecord);
        }
    }

    /// Assigns a site to its function.
    ///
    /// @return record of the function
    private long functionOf(ProbedImage image, int index, SiteKind kind, SiteInstruction hook) {
        if (hook.function() == 0) {
            learned.add(index);
            return functions.unknown();
        }
        int function = image.functions().get(image.offset(hook.function()), -1);
        if (function < 0) {
            return functions.excluded();
        }
        functions.addSite(function, index, kind);
        return functions.address(function);
    }

    private void openToClients(int index, SiteInstruction hook, StubBodies bodies) {
        if (index != ProbedImage.NO_SITE
                && hook.role() != SiteInstruction.Role.COUNT_ALONE
                && sites.get(index).functionAcquire().address() != functions.excluded()) {
            sites.open(index, SiteKind.of(hook), bodies);
        }
    }
}
