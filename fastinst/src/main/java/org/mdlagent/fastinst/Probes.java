package org.mdlagent.fastinst;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.TextCopy;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.fastinst.calls.Call;
import org.mdlagent.fastinst.calls.CallSites;
import org.mdlagent.fastinst.calls.CallableFunctions;
import org.mdlagent.fastinst.calls.Calls;
import org.mdlagent.fastinst.calls.Library;
import org.mdlagent.fastinst.imports.ImportStubs;
import org.mdlagent.fastinst.imports.Imports;
import org.mdlagent.fastinst.install.SessionTables;
import org.mdlagent.fastinst.install.StubBodies;
import org.mdlagent.fastinst.install.Trampolines;
import org.mdlagent.fastinst.provider.Discovery;
import org.mdlagent.fastinst.provider.FunctionRanges;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.LoadedImages;
import org.mdlagent.fastinst.snippet.MetricTable;
import org.mdlagent.fastinst.snippet.Snippets;

/// The probes of this process: finds them, gives each function a record and each site a trampoline, and switches
/// them.
///
/// Used by one thread, the agent's.
public final class Probes {
    /// The stub of a whole function takes some 150 bytes with what unwinders must know: room for more than a million.
    private static final long TRAMPOLINE_BYTES_MAX = 256L << 20;

    /// Room in the session's tables for what is opened later. A function takes 160 bytes, and 8 in each thread's
    /// block, in exact and mixed mode 16; a site takes 80.
    private static final int LATER_FUNCTIONS = 4096;

    private static final int LATER_SITES = 4 * LATER_FUNCTIONS;

    private static final byte[] ACTIVATION_ORDER = {
        SiteDescriptor.KIND_EXIT,
        SiteDescriptor.KIND_SIBLING_EXIT,
        SiteDescriptor.KIND_ENTRY,
        SiteDescriptor.KIND_WHOLE,
        SiteDescriptor.KIND_COUNT
    };

    private final NativeApi api;
    private final ProbeFilter filter;
    private final List<String> notes;
    private final InstructionSet instructions = InstructionSet.host();
    private final CodeMemory code;
    private final CodeArena arena;
    private final CallPatch callPatch;
    private final Trampolines trampolines;
    private final Snippets snippets;
    private final CallableFunctions callable;
    private final CallSites callSites;
    private final SessionTables tables;
    private final MetricTable metrics;
    private final Imports imports;
    private final long header;
    private int changes;

    private final LoadedImages images;

    /// Null until the images have been read for the first time.
    private @Nullable Discovery discovery;

    /// Images that have been looked at, as long as they are loaded.
    private final Set<LoadedImage> known = new HashSet<>();

    /// Those with probes, also when they have been closed.
    private final List<Library> libraries = new ArrayList<>();

    /// What the last [#follow] has brought.
    private final List<Library> opened = new ArrayList<>();

    private final List<Function> functions = new ArrayList<>();

    /// Function record of sites whose function the code does not show: its address is 0, so that the first call asks
    /// the shim.
    private long unknownFunction;

    /// Function record of sites that the filter leaves out: they stay off.
    private long excludedFunction;

    private int siteCount;

    /// Sites whose function has not shown yet.
    private final List<Integer> unknownSites = new ArrayList<>();

    private int lastLearned;

    /// What is known of a probed function beside its record.
    private static final class Function {
        final Library library;

        /// Of its address in the image.
        final long offset;

        final String symbol;
        final String name;
        final boolean everyCall;
        final List<Integer> entries = new ArrayList<>(1);
        final List<Integer> exits = new ArrayList<>(2);

        Function(Library library, long offset, String symbol, String name, boolean everyCall) {
            this.library = library;
            this.offset = offset;
            this.symbol = symbol;
            this.name = name;
            this.everyCall = everyCall;
        }
    }

    /// @param sync  tells when changed code is fetched
    /// @param notes receives what was found and left alone, for the log
    public Probes(NativeApi api, CoreSync sync, boolean exact, ProbeFilter filter, List<String> notes) {
        this.api = api;
        this.filter = filter;
        this.notes = notes;
        code = new CodeMemory(api);
        arena = new CodeArena(code, TRAMPOLINE_BYTES_MAX);
        callPatch = new CallPatch(api, api, code, arena, sync, instructions);
        RecordingEntryPoints recording = api.recordingEntryPoints(exact);
        trampolines = new Trampolines(api, instructions, code, arena, callPatch, recording);
        snippets = new Snippets(api, instructions, code, recording);
        callable = new CallableFunctions(api);
        tables = new SessionTables(api);
        metrics = new MetricTable(api, tables, snippets.values());
        callSites = new CallSites(api, libraries, code, instructions);
        images = new LoadedImages(api);
        imports = new Imports(
                api,
                code,
                instructions,
                new ImportStubs(this, code, arena, instructions, callPatch, trampolines, tables));
        header = api.session();
    }

    /// Follows the dynamic linker: finds the images that have come since the last call, and makes their sites
    /// switchable, all of which are off afterwards; takes the probes of those that have gone.
    ///
    /// @return false when the application opens or closes an image at this moment, so that it must be done later
    /// @throws IOException when code memory is refused
    public boolean follow() throws IOException {
        opened.clear();
        if (!images.haveChanged()) {
            return true;
        }
        changes++;
        callSites.forget();
        if (!api.holdImages()) {
            return false;
        }
        try {
            MemoryMap memory = MemoryMap.read();
            List<LoadedImage> now = images.read(memory);
            closeAllBut(now, memory);
            return openAll(now, memory);
        } finally {
            api.releaseImages();
        }
    }

    /// What [ProbeClient#discover] tells: the same as before, as long as this is.
    ///
    /// @param changes of images and of what is known of their functions
    /// @param learned probes that have shown whose they are
    public record Version(int changes, int learned) {}

    public Version version() {
        return new Version(changes, Memory.getIntAcquire(header + HeaderDescriptor.LEARNED));
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

    /// Takes records for sites, of a function that the filter leaves out as long as they have none.
    ///
    /// @return index of the first
    /// @throws IllegalStateException when the session has no room
    public int addSites(int count) {
        int first = siteCount;
        if (first + count > Memory.getInt(header + HeaderDescriptor.SITE_CAPACITY)) {
            throw new IllegalStateException("the session has no room for " + count + " more sites");
        }
        siteCount += count;
        for (int i = first; i < siteCount; i++) {
            Memory.putLong(site(i) + SiteDescriptor.FUNCTION, excludedFunction);
        }
        Memory.putIntRelease(header + HeaderDescriptor.SITE_COUNT, siteCount);
        return first;
    }

    /// Adds a function of a library without probes.
    ///
    /// @param address of what the program calls
    /// @return address of its record
    /// @throws IllegalStateException when the session has no room
    public long addImported(String symbol, String image, long address) {
        int index = functions.size();
        if (index == Memory.getInt(header + HeaderDescriptor.FUNCTION_CAPACITY)) {
            throw new IllegalStateException("the session has no room for another function");
        }
        functions.add(new Function(new Library(image, "", ""), 0, symbol, symbol, false));
        long record = function(index);
        Memory.putInt(record + FunctionDescriptor.INDEX, index);
        Memory.putInt(
                record + FunctionDescriptor.FLAGS, FunctionDescriptor.FLAG_IMPORTED | FunctionDescriptor.FLAG_OFF);
        Memory.putInt(record + FunctionDescriptor.NAME, tables.string(symbol));
        Memory.putInt(record + FunctionDescriptor.SYMBOL, tables.string(symbol));
        Memory.putInt(record + FunctionDescriptor.IMAGE, tables.string(image));
        Memory.putLongRelease(record + FunctionDescriptor.ADDRESS, address);
        Memory.putIntRelease(header + HeaderDescriptor.FUNCTION_COUNT, functions.size());
        return record;
    }

    /// Who calls.
    public CallSites callSites() {
        return callSites;
    }

    /// Whether the last [#follow] has brought probes, new ones or such that were there before: [#activateOpened],
    /// [#openedFunctions].
    public boolean haveOpened() {
        return !opened.isEmpty();
    }

    /// The calls that functions with probes make, as the files of their images show them.
    ///
    /// @throws IOException when a file cannot be read
    public List<Call> calls() throws IOException {
        try (Calls calls = new Calls(api, this, instructions)) {
            return calls.find(libraries);
        }
    }

    private void closeAllBut(List<LoadedImage> now, MemoryMap memory) {
        for (Library library : libraries) {
            Library.Placement placement = library.current();
            // The same may be there again: then its text is that of the file.
            if (placement != null
                    && (!now.contains(placement.image())
                            || !placement.texts().stream().allMatch(text -> text.isShown(memory)))) {
                close(library, placement);
            }
        }
        known.retainAll(now);
    }

    /// Its sites are off from now on: also in forked processes, which may have it still.
    private void close(Library library, Library.Placement placement) {
        List<Integer> sites = library.sites().values().stream()
                .filter(index -> Memory.getLong(site(index) + SiteDescriptor.STORE) != 0)
                .toList();
        List<Integer> probes = withReturns(sites);
        withIndices(probes, (indices, count) -> api.forgetClients(indices, count));
        snippets.forget(probes);
        toggle(sites, false);
        library.close();
        for (int index : library.probedFunctions()) {
            long record = function(index);
            long address = Memory.getLong(record + FunctionDescriptor.ADDRESS);
            Memory.putLongRelease(record + FunctionDescriptor.ADDRESS, 0);
            tables.removeLookup(address, record, excludedFunction);
            publishSiteList(index);
        }
        placement.texts().forEach(Trampolines.OfText::forget);
        known.remove(placement.image());
    }

    private boolean openAll(List<LoadedImage> now, MemoryMap memory) throws IOException {
        boolean first = discovery == null;
        Discovery providers = first ? new Discovery(api, instructions, now, notes) : Objects.requireNonNull(discovery);
        discovery = providers;
        List<ImageProbes> come = new ArrayList<>();
        for (LoadedImage image : now) {
            if (known.contains(image)) {
                continue;
            }
            if (!first && !providers.isRelocated(image, memory)) {
                images.invalidate();
                continue;
            }
            known.add(image);
            ImageProbes probes = providers.discover(image);
            if (probes != null) {
                come.add(probes);
            }
        }
        List<Library> placed = new ArrayList<>();
        for (ImageProbes probes : come) {
            Library library = place(probes, first);
            if (library != null) {
                placed.add(library);
            }
            if (library == null || library.lineTables() != probes.elf()) {
                probes.elf().close();
            }
        }
        if (first) {
            allocateTables();
            imports.first(now);
            callable.first(now);
        }
        boolean shown = show(placed, first);
        Memory.putIntRelease(header + HeaderDescriptor.SITE_COUNT, siteCount);
        Memory.putIntRelease(header + HeaderDescriptor.FUNCTION_COUNT, functions.size());
        return shown;
    }

    /// Installs libraries and shows their sites. What cannot be had later leaves them without probes; at first,
    /// there is no profile without it.
    private boolean show(List<Library> placed, boolean first) throws IOException {
        List<TextCopy> copies = new ArrayList<>();
        String refusal = null;
        try {
            for (Library library : placed) {
                copies.addAll(install(library));
            }
            if (code.show(copies)) {
                opened.addAll(placed);
                return true;
            }
            images.invalidate();
        } catch (IOException | IllegalStateException e) {
            if (first) {
                throw e;
            }
            refusal = e.getMessage();
        }
        for (Library library : placed) {
            close(library, Objects.requireNonNull(library.current()));
            if (refusal != null) {
                notes.add(library.path() + ": left alone: " + refusal);
                library.leaveOut();
            }
        }
        return refusal != null;
    }

    /// Gives an image its functions and the indices of its sites, or those that it had when it was there before.
    ///
    /// @param first whether there are no tables yet, so that there is room for all
    /// @return null when it is left alone
    private @Nullable Library place(ImageProbes probes, boolean first) throws IOException {
        String build = probes.elf().buildId();
        Library coming = new Library(probes.image().path(), content(probes), build == null ? "" : build);
        for (Library kept : libraries) {
            if (kept.returns(coming)) {
                return place(kept, probes, false, first) ? kept : null;
            }
        }
        libraries.add(coming);
        return place(coming, probes, true, first) ? coming : null;
    }

    private boolean place(Library library, ImageProbes probes, boolean isNew, boolean first) throws IOException {
        if (library.isLeftOut()) {
            return false;
        }
        int functionsBefore = functions.size();
        int sitesBefore = siteCount;
        String refusal = null;
        try {
            Library.Placement placement = library.placementAt(probes.image());
            if (placement == null) {
                placement = new Library.Placement(probes.image(), plan(probes));
            }
            if (isNew) {
                register(library, probes, placement);
                library.lineTables(probes.elf());
            }
            library.open(placement);
        } catch (IOException e) {
            if (first) {
                throw e;
            }
            refusal = e.getMessage();
        }
        String size = functions.size() - functionsBefore + " functions, " + (siteCount - sitesBefore) + " sites";
        if (refusal == null && !first && !hasRoom()) {
            refusal = "the session has no room for " + size;
        }
        if (refusal != null) {
            notes.add(library.path() + ": left alone: " + refusal);
            library.leaveOut();
            library.lineTables(null);
            functions.subList(functionsBefore, functions.size()).clear();
            siteCount = sitesBefore;
        } else if (isNew && !first) {
            notes.add(library.path() + ": opened, " + size);
        }
        return refusal == null;
    }

    private boolean hasRoom() {
        return functions.size() <= Memory.getInt(header + HeaderDescriptor.FUNCTION_CAPACITY)
                && siteCount <= Memory.getInt(header + HeaderDescriptor.SITE_CAPACITY);
    }

    /// What tells builds of one path apart.
    private static String content(ImageProbes probes) throws IOException {
        String build = probes.elf().buildId();
        return build != null ? build : Long.toString(new File(probes.image().path()).lastModified());
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
            notes.add(image.image().path() + ": " + refused
                    + " functions left alone: what their NOPs can lead to is taken");
        }
        return texts;
    }

    private void allocateTables() {
        tables.allocateFunctions(functions.size() + LATER_FUNCTIONS);
        tables.allocateSites(siteCount + LATER_SITES);
        unknownFunction = tables.allocate(FunctionDescriptor.SIZE);
        Memory.putLong(header + HeaderDescriptor.UNKNOWN_FUNCTION, unknownFunction);
        excludedFunction = tables.allocate(FunctionDescriptor.SIZE);
    }

    /// Copies a library's text and makes its sites in the copy, where nobody executes them; writes trampolines and
    /// records.
    private List<TextCopy> install(Library library) throws IOException {
        Library.Placement placement = Objects.requireNonNull(library.current());
        List<TextCopy> copies = new ArrayList<>();
        List<PatchPlan> plans = new ArrayList<>();
        library.probedFunctions().forEach(this::describeFunction);
        for (Trampolines.OfText text : placement.texts()) {
            copies.add(text.copy());
            for (Trampolines.Site site : text.sites()) {
                Integer index = library.sites().get(site.hook().address() - placement.bias());
                if (index == null) {
                    continue; // It could not be reached where the library stood first.
                }
                text.write(site, site(index));
                PatchPlan plan = site.plan();
                Memory.put(code.alias(plan.address()), plan.rewritten());
                describe(library, index, site);
                plans.add(plan);
            }
            text.makeKnown();
        }
        callPatch.install(plans);
        for (Trampolines.OfText text : placement.texts()) {
            StubBodies bodies = text.bodies(tables);
            for (Trampolines.Site site : text.sites()) {
                Integer index = library.sites().get(site.hook().address() - placement.bias());
                if (index != null) {
                    openToClients(index, site.hook(), bodies);
                }
            }
        }
        for (int function : library.probedFunctions()) {
            if (Memory.getLong(function(function) + FunctionDescriptor.SITE_LIST) == 0) {
                writeSiteList(function);
            } else {
                publishSiteList(function);
            }
        }
        return copies;
    }

    /// Records of the session's table that a site takes: that of a whole function has one for the return.
    private static int records(Trampolines.Site site) {
        return site.hook().role() == SiteInstruction.Role.FUNCTION ? 2 : 1;
    }

    public int functionCount() {
        return functions.size();
    }

    public int siteCount() {
        return siteCount;
    }

    /// Address of the record of function `index`.
    public long function(int index) {
        return Memory.getLong(header + HeaderDescriptor.FUNCTIONS) + index * FunctionDescriptor.SIZE;
    }

    /// Indices of the functions whose probes the last [#follow] has brought.
    public List<Integer> openedFunctions() {
        return opened.stream()
                .flatMap(library -> library.probedFunctions().stream())
                .toList();
    }

    /// Indices of the functions with probes that `wanted` includes, those of closed libraries left out.
    public List<Integer> functions(ProbeFilter wanted) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            Function function = functions.get(i);
            String file = wanted.needsFiles() ? tables.text(Memory.getInt(function(i) + FunctionDescriptor.FILE)) : "";
            if (function.library.current() != null && wanted.includes(function.library.path(), file, function.name)) {
                found.add(i);
            }
        }
        return found;
    }

    /// Whether the recorder is to leave a function out: [#leaveOut].
    public boolean isLeftOut(int function) {
        return isOff(function(function));
    }

    /// Whether every call of a function is recorded although others are sampled: [ProbeFilter#wantsEveryCall].
    public boolean isEveryCallRecorded(int function) {
        return hasFlag(function(function), FunctionDescriptor.FLAG_EVERY_CALL);
    }

    /// Notes whether the recorder is to leave a function out from now on. Its probes stay as they are.
    public void leaveOut(int function, boolean out) {
        long flags = function(function) + FunctionDescriptor.FLAGS;
        int others = Memory.getInt(flags) & ~FunctionDescriptor.FLAG_OFF;
        Memory.putInt(flags, others | (out ? FunctionDescriptor.FLAG_OFF : 0));
    }

    /// Lets the recorder see every call of these functions, or none. Calls that are in progress then are not timed.
    public void record(List<Integer> functions, boolean on) {
        List<Integer> exits = new ArrayList<>();
        List<Integer> entries = new ArrayList<>();
        for (int function : functions) {
            leaveOut(function, !on);
            exits.addAll(this.functions.get(function).exits);
            entries.addAll(this.functions.get(function).entries);
        }
        // As a window begins and ends: no entry stays without its exit.
        toggle(on ? exits : entries, on);
        toggle(on ? entries : exits, on);
    }

    /// Switches on what the last [#follow] has brought: exits before entries, so that no entry stays without its
    /// exit.
    public void activateOpened() {
        activate(false);
    }

    /// The same for the sites whose function is not known, which no window of a function switches: exits, which close
    /// whatever frame they meet, before entries, which ask the shim for their function.
    public void activateOpenedUnknown() {
        activate(true);
    }

    private void activate(boolean onlyUnknown) {
        for (byte kind : ACTIVATION_ORDER) {
            toggle(
                    opened.stream()
                            .flatMap(library -> library.sites().values().stream())
                            .filter(index -> {
                                long function = Memory.getLong(site(index) + SiteDescriptor.FUNCTION);
                                return Memory.getByte(site(index) + SiteDescriptor.KIND) == kind
                                        && function != excludedFunction
                                        && !isOff(function)
                                        && (!onlyUnknown || function == unknownFunction);
                            })
                            .toList(),
                    true);
        }
    }

    private static boolean isOff(long function) {
        return hasFlag(function, FunctionDescriptor.FLAG_OFF);
    }

    private static boolean hasFlag(long function, int flag) {
        return (Memory.getInt(function + FunctionDescriptor.FLAGS) & flag) != 0;
    }

    private static void addFlag(long function, int flag) {
        long flags = function + FunctionDescriptor.FLAGS;
        Memory.putInt(flags, Memory.getInt(flags) | flag);
    }

    private void toggle(List<Integer> sites, boolean on) {
        withIndices(sites, (indices, count) -> {
            long unused = callPatch.toggle(indices, count, on);
        });
    }

    /// The records of these sites, and those of the returns of whole functions, which stand behind them.
    private List<Integer> withReturns(List<Integer> sites) {
        List<Integer> all = new ArrayList<>();
        for (int site : sites) {
            all.add(site);
            if (Memory.getByte(site(site) + SiteDescriptor.KIND) == SiteDescriptor.KIND_WHOLE) {
                all.add(site + 1);
            }
        }
        return all;
    }

    /// What the shim does with indices (int) that stand at an address.
    private interface OfIndices {
        void accept(long indices, int count);
    }

    private static void withIndices(List<Integer> sites, OfIndices action) {
        try (Arena arena = Arena.ofConfined()) {
            long indices = arena.allocate(ValueLayout.JAVA_INT, Math.max(1, sites.size()))
                    .address();
            for (int i = 0; i < sites.size(); i++) {
                Memory.putInt(indices + (long) i * Integer.BYTES, sites.get(i));
            }
            action.accept(indices, sites.size());
        }
    }

    public long site(int index) {
        return Memory.getLong(header + HeaderDescriptor.SITES) + index * SiteDescriptor.SIZE;
    }

    /// Makes a function of every address that a site of the image names, if the filter lets it. A site that names
    /// none is mostly in the function that it belongs to, or in one that names it elsewhere.
    private void register(Library library, ImageProbes image, Library.Placement placement) throws IOException {
        SymbolTable symbols = image.elf().symbols();
        long bias = placement.bias();
        Map<Long, String> files = filter.needsFiles() ? sourceFiles(image) : Map.of();
        for (Trampolines.Site site : placement.sites()) {
            SiteInstruction hook = site.hook();
            library.sites().put(hook.address() - bias, siteCount);
            siteCount += records(site);
            long offset = hook.function() - bias;
            if (hook.function() == 0) {
                int around = hook.role() == SiteInstruction.Role.EXIT ? -1 : symbols.containing(hook.address() - bias);
                if (around < 0) {
                    continue;
                }
                offset = symbols.start(around);
            }
            if (library.functions().containsKey(offset)) {
                continue;
            }
            int at = symbols.at(offset);
            String symbol = at >= 0
                    ? symbols.name(at)
                    : Path.of(library.path()).getFileName() + "+0x" + Long.toHexString(offset);
            String name = api.demangle(symbol);
            String file = files.getOrDefault(offset, "");
            boolean included = filter.includes(library.path(), file, name);
            library.functions().put(offset, included ? functions.size() : -1);
            if (included) {
                boolean everyCall = filter.wantsEveryCall(library.path(), file, name);
                functions.add(new Function(library, offset, symbol, name, everyCall));
            }
        }
        library.ranges(FunctionRanges.of(image.image(), image.elf(), library.functions()));
    }

    private Map<Long, String> sourceFiles(ImageProbes image) throws IOException {
        DwarfLines lines = image.elf().lines(api::renewClocks);
        if (lines == null) {
            notes.add(image.image().path() + ": no line tables, so patterns with a source file match nothing in it");
            return Map.of();
        }
        long bias = image.image().bias();
        long[] addresses = image.texts().stream()
                .flatMap(text -> text.sites().stream())
                .mapToLong(site -> site.hook().function() - bias)
                .filter(address -> address != -bias)
                .sorted()
                .distinct()
                .toArray();
        @Nullable SourceLine[] found = lines.at(addresses);
        Map<Long, String> files = new HashMap<>();
        for (int i = 0; i < addresses.length; i++) {
            if (found[i] != null) {
                files.put(addresses[i], found[i].file());
            }
        }
        return files;
    }

    /// Writes a function's record, or what has changed while its library was away.
    private void describeFunction(int index) {
        Function function = functions.get(index);
        long record = function(index);
        long address = Objects.requireNonNull(function.library.current()).bias() + function.offset;
        Memory.putInt(record + FunctionDescriptor.INDEX, index);
        Memory.putInt(record + FunctionDescriptor.NAME, tables.string(function.name));
        Memory.putInt(record + FunctionDescriptor.SYMBOL, tables.string(function.symbol));
        Memory.putInt(record + FunctionDescriptor.IMAGE, tables.string(function.library.path()));
        Memory.putInt(record + FunctionDescriptor.BUILD, tables.string(function.library.build()));
        if (function.everyCall) {
            addFlag(record, FunctionDescriptor.FLAG_EVERY_CALL);
        }
        Memory.putLong(
                record + FunctionDescriptor.END,
                address + function.library.ranges().length(function.offset));
        Memory.putLongRelease(record + FunctionDescriptor.ADDRESS, address);
        tables.addLookup(address, record);
    }

    /// Writes a site's record, or what has changed while its library was away: not what was learned of its function.
    private void describe(Library library, int index, Trampolines.Site site) {
        SiteInstruction hook = site.hook();
        if (Memory.getLong(site(index) + SiteDescriptor.FUNCTION) == 0) {
            assign(library, index, hook);
        }
        describe(library, index, site, kind(hook));
        if (hook.role() == SiteInstruction.Role.FUNCTION) {
            Memory.putLong(
                    site(index + 1) + SiteDescriptor.FUNCTION, Memory.getLong(site(index) + SiteDescriptor.FUNCTION));
            describe(library, index + 1, site, SiteDescriptor.KIND_RETURN);
        }
    }

    /// From now on clients may be attached to a site.
    private void openToClients(int index, SiteInstruction hook, StubBodies bodies) {
        if (Memory.getLong(site(index) + SiteDescriptor.FUNCTION) == excludedFunction) {
            return;
        }
        Body body = switch (hook.role()) {
            case ENTRY -> Body.ENTRY;
            case EXIT -> Body.EXIT;
            case FUNCTION -> Body.FUNCTION_ENTRY;
            case COUNT -> Body.COUNT;
        };
        if (hook.role() == SiteInstruction.Role.FUNCTION) {
            bodies.open(site(index + 1), Body.FUNCTION_EXIT);
        }
        bodies.open(site(index), body);
    }

    private static byte kind(SiteInstruction hook) {
        boolean jump = hook.form() == SiteInstruction.Form.JUMP || hook.form() == SiteInstruction.Form.JUMP_INDIRECT;
        return switch (hook.role()) {
            case ENTRY -> SiteDescriptor.KIND_ENTRY;
            case EXIT -> jump ? SiteDescriptor.KIND_SIBLING_EXIT : SiteDescriptor.KIND_EXIT;
            case FUNCTION -> SiteDescriptor.KIND_WHOLE;
            case COUNT -> SiteDescriptor.KIND_COUNT;
        };
    }

    /// Gives a site its function.
    private void assign(Library library, int index, SiteInstruction hook) {
        long record = site(index);
        if (hook.function() == 0) {
            Memory.putLong(record + SiteDescriptor.FUNCTION, unknownFunction);
            unknownSites.add(index);
            return;
        }
        long offset =
                hook.function() - Objects.requireNonNull(library.current()).bias();
        int function = library.functions().getOrDefault(offset, -1);
        Memory.putLong(record + SiteDescriptor.FUNCTION, function < 0 ? excludedFunction : function(function));
        if (function >= 0) {
            sitesOf(functions.get(function), kind(hook)).add(index);
            if (hook.role() == SiteInstruction.Role.COUNT) {
                addFlag(function(function), FunctionDescriptor.FLAG_COUNTED);
            }
        }
    }

    private void describe(Library library, int index, Trampolines.Site site, byte kind) {
        long record = site(index);
        callPatch.describe(site.plan(), record);
        Memory.putByte(record + SiteDescriptor.KIND, kind);
        Memory.putInt(record + SiteDescriptor.INDEX, index);
        Memory.putLong(record + SiteDescriptor.ADDRESS, site.hook().address());
        Memory.putLong(record + SiteDescriptor.STUB, site.stub());
        Memory.putInt(record + SiteDescriptor.IMAGE, tables.string(library.path()));
        Memory.putLong(record + SiteDescriptor.OWNER, owner(library, site.hook()));
    }

    private long owner(Library library, SiteInstruction hook) {
        long bias = Objects.requireNonNull(library.current()).bias();
        int function = library.ranges().at(hook.address() - bias);
        return function == FunctionRanges.NONE ? 0 : function(function);
    }

    private void writeSiteList(int index) {
        Function function = functions.get(index);
        long list = tables.allocateIndices(function.exits.size() + function.entries.size());
        Memory.putLong(function(index) + FunctionDescriptor.SITE_LIST, list);
        for (int site : function.exits) {
            Memory.putInt(list, site);
            list += Integer.BYTES;
        }
        for (int site : function.entries) {
            Memory.putInt(list, site);
            list += Integer.BYTES;
        }
        publishSiteList(index);
    }

    /// The list of a function is empty while its library is closed.
    private void publishSiteList(int index) {
        Function function = functions.get(index);
        boolean open = function.library.current() != null;
        Memory.putInt(function(index) + FunctionDescriptor.EXIT_SITES, open ? function.exits.size() : 0);
        Memory.putInt(function(index) + FunctionDescriptor.ENTRY_SITES, open ? function.entries.size() : 0);
    }

    /// Gives sites whose function the first calls have shown to that function, and takes those away whose calls
    /// turned out to vary.
    ///
    /// @return the functions whose sites have changed
    public Set<Integer> adoptLearnedSites() {
        int learned = Memory.getIntAcquire(header + HeaderDescriptor.LEARNED);
        if (learned == lastLearned) {
            return Set.of();
        }
        Set<Integer> changed = new HashSet<>();
        int expected = learned - lastLearned;
        lastLearned = learned;
        int kept = 0;
        for (int site : unknownSites) {
            long record = Memory.getLongAcquire(site(site) + SiteDescriptor.FUNCTION);
            if (record == unknownFunction) {
                unknownSites.set(kept++, site);
                continue;
            }
            int function = Memory.getInt(record + FunctionDescriptor.INDEX);
            sitesOf(functions.get(function), Memory.getByte(site(site) + SiteDescriptor.KIND))
                    .add(site);
            changed.add(function);
            expected--;
        }
        unknownSites.subList(kept, unknownSites.size()).clear();
        if (expected > 0) {
            removeVaryingSites(changed);
        }
        for (int function : changed) {
            writeSiteList(function);
        }
        return changed;
    }

    private void removeVaryingSites(Set<Integer> changed) {
        for (int i = 0; i < functions.size(); i++) {
            Function function = functions.get(i);
            boolean entries = function.entries.removeIf(this::varies);
            boolean exits = function.exits.removeIf(this::varies);
            if (entries || exits) {
                changed.add(i);
            }
        }
    }

    private boolean varies(int site) {
        return (Memory.getByte(site(site) + SiteDescriptor.FLAGS) & SiteDescriptor.FLAG_VARIES) != 0;
    }

    private static List<Integer> sitesOf(Function function, byte kind) {
        boolean exit = kind == SiteDescriptor.KIND_EXIT || kind == SiteDescriptor.KIND_SIBLING_EXIT;
        return exit ? function.exits : function.entries;
    }

    /// Finds the source lines of functions that have come, and writes them to their records. That may take longer
    /// than the watchdog's patience, so it shows signs of life.
    ///
    /// @throws IOException when a line table is damaged; the functions of other images have theirs
    public void resolveLines() throws IOException {
        for (Library library : libraries) {
            ElfFile file = library.lineTables();
            if (file != null) {
                library.lineTables(null);
                try (file) {
                    DwarfLines lines = file.lines(api::renewClocks);
                    if (lines != null) {
                        resolveLines(library, lines);
                        changes++;
                    }
                }
            }
        }
    }

    private void resolveLines(Library library, DwarfLines lines) throws IOException {
        List<Integer> own = new ArrayList<>(library.probedFunctions());
        own.sort(Comparator.comparingLong(index -> functions.get(index).offset));
        @Nullable
        SourceLine[] found = lines.at(
                own.stream().mapToLong(index -> functions.get(index).offset).toArray());
        for (int i = 0; i < found.length; i++) {
            SourceLine line = found[i];
            if (line != null) {
                long record = function(own.get(i));
                Memory.putInt(record + FunctionDescriptor.LINE, line.line());
                Memory.putIntRelease(record + FunctionDescriptor.FILE, tables.string(line.file()));
            }
        }
    }
}
