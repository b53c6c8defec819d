package org.mdlagent.fastinst;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
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
import org.mdlagent.callpatch.SiteSwitch;
import org.mdlagent.fastinst.calls.Call;
import org.mdlagent.fastinst.calls.CallFinder;
import org.mdlagent.fastinst.calls.CodePlaces;
import org.mdlagent.fastinst.calls.ReturnSites;
import org.mdlagent.fastinst.imports.ImportStubs;
import org.mdlagent.fastinst.imports.Imports;
import org.mdlagent.fastinst.install.FilteredFunctions;
import org.mdlagent.fastinst.install.FunctionTable;
import org.mdlagent.fastinst.install.Images;
import org.mdlagent.fastinst.install.Installer;
import org.mdlagent.fastinst.install.LearnedSites;
import org.mdlagent.fastinst.install.PreparedText;
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

/// The probes of this process: finds them, gives each function a record and each site a trampoline, and switches
/// them.
///
/// Used by one thread, the agent's.
public final class Probes {
    /// The stub of a whole function takes some 150 bytes with what unwinders must know: room for more than a million.
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

    /// @param sync             tells when changed code is fetched
    /// @param libraryFunctions room for functions of libraries that are opened later
    /// @param notes            receives what was found and left alone, for the log
    public Probes(
            NativeApi api, CoreSync sync, boolean exact, int libraryFunctions, ProbeFilter filter, List<String> notes) {
        this.api = api;
        CodeMemory code = new CodeMemory(api);
        CodeArena arena = new CodeArena(code, TRAMPOLINE_BYTES_MAX);
        RecordingEntryPoints recording = api.recordingEntryPoints(exact);
        PreparedText prepared = new PreparedText(api, code, arena, sync, instructions);
        Trampolines trampolines = new Trampolines(api, instructions, code, arena, prepared, recording);
        siteSwitch = new SiteSwitch(api);
        tables = new SessionTables(api);
        functions = new FunctionTable(tables, api.session());
        sites = new SiteTable(tables, code, api.session());
        learned = new LearnedSites(sites, functions, api.session());
        lines = new SourceLines(api, functions, notes);
        FilteredFunctions filtered = new FilteredFunctions(api, filter);
        Installer installer = new Installer(
                trampolines,
                prepared,
                tables,
                functions,
                sites,
                learned,
                lines,
                filter,
                filtered,
                libraryFunctions,
                notes);
        images = new Images(api, instructions, code, installer, filtered, functions, sites, notes, new ImageListener());
        snippets = new Snippets(api, instructions, code, recording);
        metrics = new MetricTable(api, tables, snippets.values());
        callable = new CallableFunctions(api);
        ImportStubs stubs = new ImportStubs(functions, sites, code, arena, instructions, prepared, trampolines, tables);
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
    /// @return false when the application opens or closes an image at this moment, so that it must be done later
    /// @throws IOException when code memory is refused
    public boolean follow() throws IOException {
        return images.follow();
    }

    /// Gives functions probes that nobody has named when the program started: [Images#demand]. Those are opened then,
    /// as by [#follow].
    ///
    /// @return null when the application opens or closes an image, or has since the last [#follow]
    /// @throws IllegalArgumentException when more functions are meant than may be
    /// @throws IOException when code memory is refused
    public Images.@Nullable Demanded demand(ProbeFilter wanted, boolean one, int most) throws IOException {
        return images.demand(wanted, one, most);
    }

    /// Whether the session's filter has chosen the probes of all images of some paths.
    public boolean areSelected(Predicate<String> paths) {
        return images.areSelected(paths);
    }

    /// Paths of the images that are loaded.
    public List<String> images() {
        return images.paths();
    }

    /// What [ProbeClient#discover] tells: the same as before, as long as this is.
    ///
    /// @param changes of images and of what is known of their functions
    /// @param learned probes that have shown whose they are
    public record Version(int changes, int learned) {}

    public Version version() {
        return new Version(images.changes() + lines.resolved(), learned.count());
    }

    /// What runs at probes beside recording.
    public Snippets snippets() {
        return snippets;
    }

    /// What readers know of the values of snippets.
    public MetricTable metrics() {
        return metrics;
    }

    /// What snippets may call.
    public CallableFunctions callable() {
        return callable;
    }

    /// Address of a text in the program's memory, for functions that snippets call: as C has strings, with a NUL behind
    /// it. It stays there for good.
    ///
    /// @throws IllegalStateException when the session is full
    public long text(String text) {
        return tables.terminated(text);
    }

    /// What the program calls in libraries without probes.
    public Imports imports() {
        return imports;
    }

    /// Which call returns to an address.
    public ReturnSites returnSites() {
        return returnSites;
    }

    /// Offset in the session file of a text.
    public int string(String text) {
        return tables.string(text);
    }

    /// Whose code an address is in.
    public CodePlaces codePlaces() {
        return codePlaces;
    }

    /// The calls that functions with probes make, as the files of their images show them.
    ///
    /// @throws IOException when a file cannot be read
    public List<Call> calls() throws IOException {
        try (CallFinder finder = new CallFinder(api, functions, sites, returnSites, instructions)) {
            return finder.find(images.probed());
        }
    }

    /// Whether the last [#follow] has brought probes, new ones or such that were there before: [#activateOpened],
    /// [#openedFunctions].
    public boolean haveOpened() {
        return !images.opened().isEmpty();
    }

    /// Indices of the functions whose probes the last [#follow] has brought.
    public List<Integer> openedFunctions() {
        return images.opened().stream()
                .flatMapToInt(image -> IntStream.of(image.probedFunctions()))
                .boxed()
                .toList();
    }

    /// Switches on what the last [#follow] has brought: exits before entries, so that no entry stays without its
    /// exit.
    public void activateOpened() {
        images.activateOpened(false);
    }

    /// The same for the sites whose function is not known, which no switching of functions reaches: exits, which close
    /// whatever frame they meet, before entries, which ask the shim for their function.
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

    /// Indices of the functions with probes that `wanted` includes, those of closed libraries left out.
    public List<Integer> functions(ProbeFilter wanted) {
        return functions.matching(wanted);
    }

    /// The sites of functions as they stand in memory.
    public List<ProbePoint> points(List<Integer> wanted) {
        return points.find(wanted);
    }

    /// Whether the recorder is to leave a function out: [#leaveOut].
    public boolean isLeftOut(int function) {
        return functions.get(function).isOff();
    }

    /// Which calls of a function are timed in a sampled session.
    public Tier tier(int function) {
        return new Tier(functions.get(function).mean());
    }

    /// Whether the filter has named that tier.
    public boolean isTierNamed(int function) {
        return functions.isTierNamed(function);
    }

    /// Lets other calls of a function be timed from now on. Those that are in progress are recorded as they began.
    public void setTier(int function, Tier tier) {
        functions.setTier(function, tier, tier.mean());
    }

    /// Lets one of `mean` calls of a function be timed by chance from now on, while its probes are on.
    ///
    /// @param mean   above 1
    /// @param weight calls that a timed one stands for, those while its probes are off included
    public void timeByChance(int function, int mean, int weight) {
        functions.setTier(function, new Tier(mean), weight);
    }

    /// Lets calls that are timed by chance stand for more or fewer from now on.
    public void setWeight(int function, int weight) {
        functions.setWeight(function, weight);
    }

    /// Notes whether the recorder is to leave a function out from now on. Its probes stay as they are.
    public void leaveOut(int function, boolean out) {
        functions.leaveOut(function, out);
    }

    /// Lets the recorder see every call of these functions, or none. Calls that are in progress then are not timed.
    public void record(List<Integer> recorded, boolean on) {
        recorded.forEach(function -> functions.leaveOut(function, !on));
        siteSwitch.toggleCalls(functions.exits(recorded), functions.entries(recorded), on);
    }

    /// Gives sites to their functions: [LearnedSites#adopt].
    ///
    /// @return the functions whose sites have changed
    public Set<Integer> adoptLearnedSites() {
        return learned.adopt();
    }

    /// Finds the source lines of functions that have come: [SourceLines#resolve].
    ///
    /// @param meanwhile is done now and then
    /// @throws IOException when a line table is damaged; the functions of other images have theirs
    public void resolveLines(Runnable meanwhile) throws IOException {
        lines.resolve(images.probed(), meanwhile);
    }
}
