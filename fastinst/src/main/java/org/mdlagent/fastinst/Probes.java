package org.mdlagent.fastinst;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.callpatch.SiteSwitch;
import org.mdlagent.fastinst.calls.Call;
import org.mdlagent.fastinst.calls.CallFinder;
import org.mdlagent.fastinst.calls.CodePlaces;
import org.mdlagent.fastinst.calls.ReturnSites;
import org.mdlagent.fastinst.imports.ImportStubs;
import org.mdlagent.fastinst.imports.Imports;
import org.mdlagent.fastinst.install.BlockTable;
import org.mdlagent.fastinst.install.FilteredFunctions;
import org.mdlagent.fastinst.install.FunctionCopies;
import org.mdlagent.fastinst.install.FunctionTable;
import org.mdlagent.fastinst.install.Images;
import org.mdlagent.fastinst.install.Installer;
import org.mdlagent.fastinst.install.LearnedSites;
import org.mdlagent.fastinst.install.ProbeFilter;
import org.mdlagent.fastinst.install.ProbePoint;
import org.mdlagent.fastinst.install.ProbePoints;
import org.mdlagent.fastinst.install.SessionTables;
import org.mdlagent.fastinst.install.SiteTable;
import org.mdlagent.fastinst.install.SourceLines;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.fastinst.install.Trampolines;
import org.mdlagent.fastinst.snippet.CallableFunctions;
import org.mdlagent.fastinst.snippet.MetricTable;
import org.mdlagent.fastinst.snippet.Snippets;

/// The probes of this process: finds them, gives each function a record and each site a trampoline, and
/// switches them.
///
/// Used by one thread, the agent's.
public final class Probes {
    /// The stub of a whole function takes about 150 bytes with its unwind data: room for more than a million.
    private static final long TRAMPOLINE_BYTES_MAX = 256L << 20;

    private final NativeApi api;
    private final InstructionSet instructions = InstructionSet.host();
    private final SiteSwitch siteSwitch;
    private final SessionTables tables;
    private final FunctionTable functions;
    private final SiteTable sites;
    private final LearnedSites learned;
    private final SourceLines lines;
    private final Images images;
    private final Snippets snippets;
    private final MetricTable metrics;
    private final CallableFunctions callable;
    private final Imports imports;
    private final ReturnSites returnSites;
    private final CodePlaces codePlaces;
    private final ProbePoints points;

    /// @param sync             tells when all cores have fetched changed code
    /// @param copied           what copies of functions count while the functions run as them
    /// @param libraryFunctions room for functions of libraries opened later
    /// @param notes            receives what was found but left alone, for the log
    public Probes(
            NativeApi api,
            CoreSync sync,
            boolean exact,
            CopiedCounts copied,
            int libraryFunctions,
            ProbeFilter filter,
            List<String> notes) {
        this.api = api;
        CodeMemory code = new CodeMemory(api);
        CodeArena arena = new CodeArena(code, TRAMPOLINE_BYTES_MAX);
        RecordingEntryPoints recording = api.recordingEntryPoints(exact);
        CallPatch callPatch = new CallPatch(api, code, arena, sync, instructions);
        Trampolines trampolines = new Trampolines(api, instructions, code, arena, callPatch, recording);
        siteSwitch = new SiteSwitch(api);
        tables = new SessionTables(api);
        functions = new FunctionTable(tables, api.session());
        sites = new SiteTable(tables, code, api.session());
        learned = new LearnedSites(sites, functions, api.session());
        BlockTable blocks = new BlockTable(api, tables);
        FunctionCopies copies = copied == CopiedCounts.NONE
                ? null
                : new FunctionCopies(
                        api, instructions, code, arena, trampolines, blocks, copied == CopiedCounts.ARCS, notes);
        lines = new SourceLines(api, functions, blocks, notes);
        FilteredFunctions filtered = new FilteredFunctions(api, filter);
        Installer installer = new Installer(
                trampolines,
                callPatch,
                tables,
                functions,
                sites,
                learned,
                lines,
                filter,
                filtered,
                libraryFunctions,
                notes,
                copies,
                blocks);
        images = new Images(api, instructions, code, installer, filtered, functions, sites, notes, new ImageListener());
        snippets = new Snippets(api, instructions, code, recording);
        metrics = new MetricTable(api, tables, snippets.values());
        callable = new CallableFunctions(api);
        ImportStubs stubs =
                new ImportStubs(functions, sites, code, arena, instructions, callPatch, trampolines, tables);
        imports = new Imports(api, code, instructions, stubs);
        returnSites = new ReturnSites(images.probed(), sites, code, instructions, api::decode);
        codePlaces = new CodePlaces(images.probed(), returnSites);
        points = new ProbePoints(images.probed(), functions, sites, instructions);
    }

    private final class ImageListener implements Images.Listener {
        @Override
        public void started(List<LoadedImage> first) {
            imports.first(first);
            callable.first(first);
        }

        @Override
        public void changed() {
            returnSites.forget();
            codePlaces.forget();
        }

        @Override
        public void closing(Collection<Integer> probes) {
            snippets.forget(probes);
        }
    }

    /// Follows the dynamic linker: [Images#follow].
    ///
    /// @return false when the application is opening or closing an image, so that the call must be repeated
    ///     later
    /// @throws IOException when code memory is refused
    public boolean follow() throws IOException {
        return images.follow();
    }

    /// Lets the process execute its files' text: [Images#hide].
    ///
    /// @return false when the application opens or closes an image at this moment
    /// @throws IOException when a file is not what it was, or the kernel refuses; the probes stay
    public boolean hide() throws IOException {
        return images.hide();
    }

    /// Lets it execute the text with probes again: [Images#showAgain].
    ///
    /// @return false when the application opens or closes an image at this moment
    /// @throws IOException when the kernel refuses
    public boolean showAgain() throws IOException {
        return images.showAgain();
    }

    /// Gives probes to functions that were not selected at program start: [Images#demand]. They count as
    /// opened, as after [#follow].
    ///
    /// @return null when the application is opening or closing an image, or has done so since the last
    ///     [#follow]
    /// @throws IllegalArgumentException when more functions match than are allowed
    /// @throws IOException when code memory is refused
    public Images.@Nullable Demanded demand(ProbeFilter wanted, boolean one, int most) throws IOException {
        return images.demand(wanted, one, most);
    }

    /// Whether the session's filter has selected the probes of all images with these paths.
    public boolean areSelected(Predicate<String> paths) {
        return images.areSelected(paths);
    }

    /// Paths of the loaded images.
    public List<String> images() {
        return images.paths();
    }

    /// The version of what [ProbeClient#discover] returns; equal versions mean equal results.
    ///
    /// @param changes of images and of what is known of their functions
    /// @param learned probes whose function has been learned
    public record Version(int changes, int learned) {}

    public Version version() {
        return new Version(images.changes() + lines.resolved(), learned.count());
    }

    /// Code that runs at probes in addition to recording.
    public Snippets snippets() {
        return snippets;
    }

    /// The published values of snippets.
    public MetricTable metrics() {
        return metrics;
    }

    /// Functions that snippets may call.
    public CallableFunctions callable() {
        return callable;
    }

    /// Address of a NUL-terminated copy of a text in the program's memory, for functions that snippets call.
    /// It is permanent.
    ///
    /// @throws IllegalStateException when the session is full
    public long text(String text) {
        return tables.terminated(text);
    }

    /// The program's calls of libraries without probes.
    public Imports imports() {
        return imports;
    }

    /// Finds the call that returns to an address.
    public ReturnSites returnSites() {
        return returnSites;
    }

    /// Offset in the session file of a text.
    public int string(String text) {
        return tables.string(text);
    }

    /// Finds the function or image that contains an address.
    public CodePlaces codePlaces() {
        return codePlaces;
    }

    /// The calls made by probed functions, found in the files of their images.
    ///
    /// @throws IOException when a file cannot be read
    public List<Call> calls() throws IOException {
        try (CallFinder finder = new CallFinder(api, functions, sites, returnSites, instructions)) {
            return finder.find(images.probed());
        }
    }

    /// Whether the last [#follow] opened probes, new or reopened: [#activateOpened], [#openedFunctions].
    public boolean haveOpened() {
        return !images.opened().isEmpty();
    }

    /// Indices of the functions whose probes the last [#follow] opened.
    public List<Integer> openedFunctions() {
        return images.opened().stream()
                .flatMapToInt(image -> IntStream.of(image.probedFunctions()))
                .boxed()
                .toList();
    }

    /// Switches on the probes that the last [#follow] opened: exits before entries, so that no entry lacks
    /// its exit.
    public void activateOpened() {
        images.activateOpened(false);
    }

    /// As [#activateOpened], but only for sites of unknown functions, which switching by function does not
    /// reach: exits, which close whatever frame they meet, before entries, which ask the shim for their
    /// function.
    public void activateOpenedUnknown() {
        if (learned.isAnyUnknown()) {
            images.activateOpened(true);
        }
    }

    public int functionCount() {
        return functions.count();
    }

    public int siteCount() {
        return sites.count();
    }

    /// Address of the record of function `index`.
    public long function(int index) {
        return functions.address(index);
    }

    /// The demangled name of function `index`.
    public String functionName(int index) {
        return functions.name(index);
    }

    /// Path of the image of function `index`.
    public String functionImage(int index) {
        return functions.image(index);
    }

    /// Indices of the probed functions that `wanted` includes, except those of closed libraries.
    public List<Integer> functions(ProbeFilter wanted) {
        return functions.matching(wanted);
    }

    /// The sites of functions as they are in memory.
    public List<ProbePoint> points(List<Integer> wanted) {
        return points.find(wanted);
    }

    /// Whether a function is excluded from recording: [#leaveOut].
    public boolean isLeftOut(int function) {
        return functions.get(function).isOff();
    }

    /// Which calls of a function are timed in a sampled session.
    public Tier tier(int function) {
        return new Tier(functions.get(function).mean());
    }

    /// Whether the user named that tier.
    public boolean isTierNamed(int function) {
        return functions.isTierNamed(function);
    }

    /// Changes which calls of a function are timed from now on. Calls in progress are recorded as they began.
    public void setTier(int function, Tier tier) {
        functions.setTier(function, tier, tier.mean());
    }

    /// Times one of `mean` calls of a function by chance from now on, while its probes are on.
    ///
    /// @param mean   above 1
    /// @param weight calls that a timed one stands for, including those made while its probes are off
    public void timeByChance(int function, int mean, int weight) {
        functions.setTier(function, new Tier(mean), weight);
    }

    /// Excludes a function from recording, or includes it. Its probes are not switched.
    public void leaveOut(int function, boolean out) {
        functions.leaveOut(function, out);
    }

    /// Records every call of these functions, or none. Calls then in progress are not timed.
    public void record(List<Integer> recorded, boolean on) {
        recorded.forEach(function -> functions.leaveOut(function, !on));
        siteSwitch.toggleCalls(functions.exits(recorded), functions.entries(recorded), on);
    }

    /// Assigns sites to their learned functions: [LearnedSites#adopt].
    ///
    /// @return the functions whose sites have changed and that are left out: their new sites are on
    public List<Integer> adoptLearnedSites() {
        List<Integer> leftOut = new ArrayList<>();
        for (int function : learned.adopt()) {
            if (isLeftOut(function)) {
                leftOut.add(function);
            }
        }
        return leftOut;
    }

    /// Finds the source lines of new functions: [SourceLines#resolve].
    ///
    /// @param meanwhile run periodically
    /// @throws IOException when a line table is damaged; functions of other images have their lines
    public void resolveLines(Runnable meanwhile) throws IOException {
        lines.resolve(images.probed(), meanwhile);
    }

    /// Writes what was found out about files, for the next start.
    public void keepFacts() {
        images.keepFacts();
    }
}
