package org.mdlagent.fastinst;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.Body;
import org.mdlagent.arch.CodeArena;
import org.mdlagent.arch.CodeMemory;
import org.mdlagent.arch.CoreSync;
import org.mdlagent.arch.HookSite;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.PatchPlan;
import org.mdlagent.arch.TrapTable;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.TrapMode;
import org.mdlagent.wordpatch.WordPatch;

/// The probes of this process: finds them, gives each function a record and each site a trampoline, and switches
/// them.
///
/// Used by one thread, the agent's.
public final class Probes {
    /// The stub of a whole function takes some 150 bytes with what unwinders must know: room for more than a million.
    private static final long TRAMPOLINE_BYTES_MAX = 256L << 20;

    private final NativeApi api;
    private final ProbeFilter filter;
    private final List<String> notes;
    private final InstructionSet instructions = InstructionSet.host();
    private final CodeMemory code;
    private final CodeArena arena;
    private final CoreSync sync;
    private final CallPatch callPatch;
    private final Trampolines trampolines;
    private @Nullable WordPatch wordPatch;
    private final SessionTables tables;
    private final long header;

    private final List<ImageProbes> images = new ArrayList<>();
    private final Map<Long, Integer> functionOfAddress = new HashMap<>();
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

    /// What is known of a probed function before its record is written.
    private static final class Function {
        final long address;

        /// Of its image in [#images].
        final int image;
        final String symbol;
        final String name;
        final List<Integer> entries = new ArrayList<>(1);
        final List<Integer> exits = new ArrayList<>(2);

        Function(long address, int image, String symbol, String name) {
            this.address = address;
            this.image = image;
            this.symbol = symbol;
            this.name = name;
        }
    }

    /// @param sync  tells when changed code is fetched
    /// @param notes receives what was found and left alone, for the log
    public Probes(NativeApi api, CoreSync sync, boolean exact, ProbeFilter filter, List<String> notes) {
        this.api = api;
        this.filter = filter;
        this.notes = notes;
        this.sync = sync;
        code = new CodeMemory(api);
        arena = new CodeArena(code, TRAMPOLINE_BYTES_MAX);
        callPatch = new CallPatch(api, api, code, arena, sync, instructions);
        trampolines = new Trampolines(api, instructions, code, arena, callPatch, api.recordingEntryPoints(exact));
        tables = new SessionTables(api);
        header = api.session();
    }

    /// Finds all sites and makes them switchable; all are off afterwards.
    ///
    /// @return the number of functions with probes
    /// @throws IOException when code memory is refused
    public int install() throws IOException {
        images.addAll(new Discovery(api, instructions, notes).discover());
        List<List<Trampolines.OfText>> texts = new ArrayList<>();
        int siteCapacity = 0;
        for (int i = 0; i < images.size(); i++) {
            texts.add(plan(images.get(i)));
            register(i, texts.get(i));
            siteCapacity += texts.get(i).stream()
                    .flatMap(text -> text.sites().stream())
                    .mapToInt(Probes::records)
                    .sum();
        }
        if (siteCapacity == 0) {
            return 0;
        }
        writeFunctions();
        tables.allocateSites(siteCapacity);
        for (int i = 0; i < images.size(); i++) {
            install(images.get(i), texts.get(i));
        }
        for (int i = 0; i < functions.size(); i++) {
            writeSiteList(i);
        }
        Memory.putIntRelease(header + HeaderDescriptor.SITE_COUNT, siteCount);
        Memory.putIntRelease(header + HeaderDescriptor.FUNCTION_COUNT, functions.size());
        return functions.size();
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

    /// Writes trampolines and site records of one image, and makes its sites switchable. Their functions have records.
    private void install(ImageProbes image, List<Trampolines.OfText> texts) throws IOException {
        List<Installed> sites = new ArrayList<>();
        for (Trampolines.OfText text : texts) {
            StubBodies bodies = text.bodies(tables);
            text.remap();
            for (Trampolines.Site site : text.sites()) {
                int index = siteCount;
                for (int i = 0; i < records(site); i++) {
                    // Nobody toggles it before it is described.
                    Memory.putLong(site(siteCount++) + SiteDescriptor.FUNCTION, excludedFunction);
                }
                text.write(site, site(index));
                sites.add(new Installed(index, site, bodies));
            }
            text.makeKnown();
        }
        rewrite(image, sites);
        for (Installed installed : sites) {
            describe(image, installed);
        }
        callPatch.install(sites.stream().map(installed -> installed.site.plan()).toList());
    }

    /// A site, its place in the session's table, and what its stub may lead to.
    private record Installed(int index, Trampolines.Site site, StubBodies bodies) {}

    /// Records of the session's table that a site takes: that of a whole function has one for the return.
    private static int records(Trampolines.Site site) {
        return site.hook().role() == HookSite.Role.WHOLE ? 2 : 1;
    }

    /// Makes those sites inert as a whole that no single store neutralises; takes those away where that fails.
    private void rewrite(ImageProbes image, List<Installed> sites) {
        List<Installed> straddlers = sites.stream()
                .filter(installed -> installed.site.plan().rewritten().length > 0)
                .toList();
        if (straddlers.isEmpty()) {
            return;
        }
        WordPatch patcher;
        try {
            patcher = wordPatch();
        } catch (IllegalStateException e) {
            sites.removeAll(straddlers);
            notes.add(image.image().path() + ": " + straddlers.size() + " sites left alone: " + e.getMessage());
            return;
        }
        List<PatchSite> words = new ArrayList<>();
        long[] values = new long[straddlers.size()];
        for (Installed straddler : straddlers) {
            PatchPlan plan = straddler.site.plan();
            for (int i = 0; i < plan.length(); i++) {
                values[words.size()] |= (plan.rewritten()[i] & 0xFFL) << i * Byte.SIZE;
            }
            words.add(patcher.site(plan.address(), plan.length()));
        }
        List<PatchResult> results = patcher.patchAll(words, values);
        for (int i = 0; i < values.length; i++) {
            if (results.get(i) instanceof PatchResult.Rejected rejected) {
                sites.remove(straddlers.get(i));
                notes.add(image.image().path() + ": a site left alone: " + rejected.reason());
            }
        }
    }

    /// Made when it is needed, for it takes SIGTRAP.
    private WordPatch wordPatch() {
        WordPatch made = wordPatch;
        if (made == null) {
            made = new WordPatch(api, api, code, arena, new TrapTable(api), sync, TrapMode.REDIRECT, instructions);
            wordPatch = made;
        }
        return made;
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

    /// Switches every probe on: exits before entries, so that no entry stays without its exit.
    public void activateAll() {
        activate(SiteDescriptor.KIND_EXIT, false);
        activate(SiteDescriptor.KIND_SIBLING_EXIT, false);
        activate(SiteDescriptor.KIND_ENTRY, false);
        activate(SiteDescriptor.KIND_WHOLE, false);
        activate(SiteDescriptor.KIND_COUNT, false);
    }

    /// Switches on the sites whose function is not known, which no window of a function switches: exits, which close
    /// whatever frame they meet, before entries, which ask the shim for their function.
    public void activateUnknown() {
        activate(SiteDescriptor.KIND_EXIT, true);
        activate(SiteDescriptor.KIND_SIBLING_EXIT, true);
        activate(SiteDescriptor.KIND_ENTRY, true);
    }

    private void activate(byte kind, boolean onlyUnknown) {
        try (Arena arena = Arena.ofConfined()) {
            long indices = arena.allocate(ValueLayout.JAVA_INT, siteCount).address();
            int count = 0;
            for (int i = 0; i < siteCount; i++) {
                long site = site(i);
                long function = Memory.getLong(site + SiteDescriptor.FUNCTION);
                if (Memory.getByte(site + SiteDescriptor.KIND) == kind
                        && function != excludedFunction
                        && (!onlyUnknown || function == unknownFunction)) {
                    Memory.putInt(indices + (long) count++ * Integer.BYTES, i);
                }
            }
            long unused = callPatch.toggle(indices, count, true);
        }
    }

    private long site(int index) {
        return Memory.getLong(header + HeaderDescriptor.SITES) + index * SiteDescriptor.SIZE;
    }

    /// Makes a function of every address that a site of the image names, if the filter lets it. A site that names
    /// none is mostly in the function that it belongs to, or in one that names it elsewhere.
    private void register(int index, List<Trampolines.OfText> texts) throws IOException {
        ImageProbes image = images.get(index);
        SymbolTable symbols = image.elf().symbols();
        long bias = image.image().bias();
        Map<Long, String> files = filter.needsFiles() ? sourceFiles(image) : Map.of();
        for (Trampolines.OfText text : texts) {
            for (Trampolines.Site site : text.sites()) {
                HookSite hook = site.hook();
                long address = hook.function();
                if (address == 0) {
                    int around = hook.role() == HookSite.Role.EXIT ? -1 : symbols.containing(hook.address() - bias);
                    address = around < 0 ? 0 : symbols.start(around) + bias;
                }
                if (address == 0 || functionOfAddress.containsKey(address)) {
                    continue;
                }
                int at = symbols.at(address - bias);
                String symbol = at >= 0
                        ? symbols.name(at)
                        : Path.of(image.image().path()).getFileName() + "+0x" + Long.toHexString(address - bias);
                String name = api.demangle(symbol);
                boolean included = filter.includes(image.image().path(), files.getOrDefault(address, ""), name);
                functionOfAddress.put(address, included ? functions.size() : -1);
                if (included) {
                    functions.add(new Function(address, index, symbol, name));
                }
            }
        }
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
                files.put(addresses[i] + bias, found[i].file());
            }
        }
        return files;
    }

    private void writeFunctions() {
        tables.allocateFunctions(functions.size());
        unknownFunction = tables.allocate(FunctionDescriptor.SIZE);
        Memory.putLong(header + HeaderDescriptor.UNKNOWN_FUNCTION, unknownFunction);
        excludedFunction = tables.allocate(FunctionDescriptor.SIZE);
        for (int i = 0; i < functions.size(); i++) {
            Function function = functions.get(i);
            long record = function(i);
            Memory.putLong(record + FunctionDescriptor.ADDRESS, function.address);
            Memory.putInt(record + FunctionDescriptor.INDEX, i);
            Memory.putInt(record + FunctionDescriptor.NAME, tables.string(function.name));
            Memory.putInt(record + FunctionDescriptor.SYMBOL, tables.string(function.symbol));
            Memory.putInt(
                    record + FunctionDescriptor.IMAGE,
                    tables.string(images.get(function.image).image().path()));
            tables.addLookup(function.address, record);
        }
    }

    private void describe(ImageProbes image, Installed installed) {
        HookSite hook = installed.site.hook();
        int index = installed.index;
        int function = hook.function() == 0 ? -1 : functionOfAddress.getOrDefault(hook.function(), -1);
        boolean jump = hook.form() == HookSite.Form.JUMP || hook.form() == HookSite.Form.JUMP_INDIRECT;
        long functionRecord =
                hook.function() == 0 ? unknownFunction : function < 0 ? excludedFunction : function(function);
        byte exit = jump ? SiteDescriptor.KIND_SIBLING_EXIT : SiteDescriptor.KIND_EXIT;
        switch (hook.role()) {
            case ENTRY -> describe(image, installed, index, functionRecord, SiteDescriptor.KIND_ENTRY, Body.ENTRY);
            case EXIT -> describe(image, installed, index, functionRecord, exit, Body.EXIT);
            case WHOLE -> {
                describe(image, installed, index, functionRecord, SiteDescriptor.KIND_WHOLE, Body.FUNCTION_ENTRY);
                describe(image, installed, index + 1, functionRecord, SiteDescriptor.KIND_RETURN, Body.FUNCTION_EXIT);
            }
            case COUNT -> {
                describe(image, installed, index, functionRecord, SiteDescriptor.KIND_COUNT, Body.COUNT);
                Memory.putInt(functionRecord + FunctionDescriptor.FLAGS, FunctionDescriptor.FLAG_COUNTED);
            }
        }
        if (function >= 0) {
            sitesOf(function, index).add(index);
        } else if (hook.function() == 0) {
            unknownSites.add(index);
        }
    }

    private void describe(ImageProbes image, Installed installed, int index, long function, byte kind, Body body) {
        Trampolines.Site site = installed.site;
        long record = site(index);
        Memory.putLong(record + SiteDescriptor.FUNCTION, function);
        callPatch.describe(site.plan(), record);
        Memory.putByte(record + SiteDescriptor.KIND, kind);
        Memory.putInt(record + SiteDescriptor.INDEX, index);
        Memory.putLong(record + SiteDescriptor.ADDRESS, site.hook().address());
        Memory.putLong(record + SiteDescriptor.STUB, site.stub());
        Memory.putInt(record + SiteDescriptor.IMAGE, tables.string(image.image().path()));
        Memory.putInt(record + SiteDescriptor.BODIES, function == excludedFunction ? 0 : installed.bodies.table(body));
    }

    private void writeSiteList(int index) {
        Function function = functions.get(index);
        long record = function(index);
        long list = tables.allocateIndices(function.exits.size() + function.entries.size());
        Memory.putLong(record + FunctionDescriptor.SITE_LIST, list);
        Memory.putInt(record + FunctionDescriptor.EXIT_SITES, function.exits.size());
        Memory.putInt(record + FunctionDescriptor.ENTRY_SITES, function.entries.size());
        for (int site : function.exits) {
            Memory.putInt(list, site);
            list += Integer.BYTES;
        }
        for (int site : function.entries) {
            Memory.putInt(list, site);
            list += Integer.BYTES;
        }
    }

    /// Gives sites whose function the first calls have shown to that function, and takes those away whose calls
    /// turned out to vary.
    public void adoptLearnedSites() {
        int learned = Memory.getIntAcquire(header + HeaderDescriptor.LEARNED);
        if (learned == lastLearned) {
            return;
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
            sitesOf(function, site).add(site);
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

    private List<Integer> sitesOf(int function, int site) {
        byte kind = Memory.getByte(site(site) + SiteDescriptor.KIND);
        boolean exit = kind == SiteDescriptor.KIND_EXIT || kind == SiteDescriptor.KIND_SIBLING_EXIT;
        return exit ? functions.get(function).exits : functions.get(function).entries;
    }

    /// Finds the source lines of all functions and writes them to their records. That may take longer than the
    /// watchdog's patience, so it shows signs of life.
    ///
    /// @throws IOException when a line table is damaged; the functions of other images have theirs
    public void resolveLines() throws IOException {
        for (int i = 0; i < images.size(); i++) {
            DwarfLines lines = images.get(i).elf().lines(api::renewClocks);
            if (lines != null) {
                resolveLines(i, lines, images.get(i).image().bias());
            }
        }
    }

    private void resolveLines(int image, DwarfLines lines, long bias) throws IOException {
        List<Integer> own = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            if (functions.get(i).image == image) {
                own.add(i);
            }
        }
        own.sort((a, b) -> Long.compare(functions.get(a).address, functions.get(b).address));
        long[] addresses = new long[own.size()];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = functions.get(own.get(i)).address - bias;
        }
        @Nullable SourceLine[] found = lines.at(addresses);
        for (int i = 0; i < addresses.length; i++) {
            SourceLine line = found[i];
            if (line != null) {
                long record = function(own.get(i));
                Memory.putInt(record + FunctionDescriptor.LINE, line.line());
                Memory.putIntRelease(record + FunctionDescriptor.FILE, tables.string(line.file()));
            }
        }
    }
}
