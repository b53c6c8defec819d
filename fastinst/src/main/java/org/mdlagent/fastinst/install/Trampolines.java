package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.TextCopy;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.ProbeSite;

/// The targets of sites: recording code, a stub for each site, and hops to the stubs for sites that cannot
/// jump everywhere ([org.mdlagent.arch.site.PatchSites#hops]).
public final class Trampolines {
    /// Hops of sites within this distance share a mapping.
    private static final long CHUNK = 64 * 1024;

    private static final int ALIGNMENT = 64;

    private final NativeApi api;
    private final InstructionSet instructions;
    private final CodeMemory code;
    private final CodeArena arena;
    private final CallPatch callPatch;
    private final RecordingEntryPoints recording;
    private final int recordingSize;
    private final DisplacedEntries displaced;

    /// Room for hops, by the address of the text near them.
    private final Map<Long, ConstrainedHops> constrained = new HashMap<>();

    public Trampolines(
            NativeApi api,
            InstructionSet instructions,
            CodeMemory code,
            CodeArena arena,
            CallPatch callPatch,
            RecordingEntryPoints recording) {
        this.api = api;
        this.instructions = instructions;
        this.code = code;
        this.arena = arena;
        this.callPatch = callPatch;
        this.recording = recording;
        recordingSize = instructions.stubs().recordingCode(recording, 0).bytes().length;
        displaced = new DisplacedEntries(api, instructions, code, () -> new TrapTable(api));
    }

    /// A site and its targets.
    ///
    /// @param hop  address of the hop to the stub or gate, 0 when the site jumps there itself
    /// @param jump the site's own jump if a gate is toggled; else null, because `plan` has it
    /// @param gate address of the jump that is toggled between the body and the stub; 0 when the site itself
    ///     is toggled
    /// @param body where the function continues: at a copy of displaced instructions, if `copySize` is not 0
    /// @param plan how the site, or its gate, is toggled
    public record Site(
            ProbeSite probe,
            long stub,
            long hop,
            @Nullable PatchPlan jump,
            long gate,
            long body,
            int copySize,
            PatchPlan plan) {
        public SiteInstruction hook() {
            return probe.hook();
        }
    }

    /// Whether a jump that straddles atomic units can be installed and removed.
    boolean isPassable(EntryPun.Cut cut, PatchPlan jump) {
        return displaced.isPassable(cut, jump);
    }

    /// Finds room for the targets of a text's sites, and plans how they are patched. The text is not changed.
    ///
    /// @throws IOException when code memory is refused
    public OfText plan(ImageProbes.Text text) throws IOException {
        List<DisplacedEntries.Copy> copies =
                text.sites().stream().map(displaced::copyOf).toList();
        StubLayout layout =
                new StubLayout(instructions.stubs(), recordingSize, text.sites(), copies, !recording.exact());
        OfText planned = new OfText(text, layout, copies);
        planned.planSites(text.sites(), layout, copies);
        return planned;
    }

    /// The targets of one text's sites. They are one piece of the arena ([StubLayout]), with unwind data at
    /// its end.
    public final class OfText {
        private final ImageProbes.Text text;
        private final List<Site> sites = new ArrayList<>();
        private int refused;

        /// Memory for hops.
        private final List<TrampolineRange> hops = new ArrayList<>();

        private final RecordingCode body;
        private final long base;

        /// Offset from the stub of a whole function to its counter, 0 if there are none.
        private final int toCounter;

        /// Offset of the unwind data; the code ends there.
        private final int unwindTable;

        /// Copies of functions that their stubs continue in, by the address of the site.
        private Map<Long, Long> entered = Map.of();

        private @Nullable TextCopy copy;
        private @Nullable StubBodies bodies;
        private boolean known;

        /// Whether the text has been closed since the copies of displaced instructions were written. Other
        /// text may have been in its place since and have taken over its trap rows.
        private boolean gone;

        private OfText(ImageProbes.Text text, StubLayout layout, List<DisplacedEntries.Copy> copies)
                throws IOException {
            this.text = text;
            unwindTable = layout.end();
            toCounter = layout.toCounter();
            // The table is valid at any address, because its addresses are relative.
            byte[] table = instructions.stubs().unwindTable(unwindTable, layout.ranges(copies), recording);
            base = aligned(
                    arena.allocate(text.start(), text.end(), Math.addExact(unwindTable + ALIGNMENT, table.length)));
            body = instructions.stubs().recordingCode(recording, base);
            Memory.put(code.alias(base), body.bytes());
            Memory.put(code.alias(base + unwindTable), table);
        }

        /// @param copies of what the sites displace
        private void planSites(List<ProbeSite> all, StubLayout layout, List<DisplacedEntries.Copy> copies)
                throws IOException {
            List<ProbeSite> choosing = new ArrayList<>();
            displaced.expect(copies);
            ConstrainedHops room = constrained.computeIfAbsent(
                    text.start(),
                    start -> new ConstrainedHops(code, instructions.sites().hop(0, 0).length));
            for (int i = 0; i < all.size(); i++) {
                ProbeSite site = all.get(i);
                if (site.displaced() != null) {
                    planDisplaced(site, site.displaced().pun(), copies.get(i), room, layout);
                    continue;
                }
                if (instructions.sites().hasChoice(site.hook())) {
                    choosing.add(site);
                } else {
                    long[] places = instructions.sites().hops(site.hook());
                    planSite(site, places.length == 0 ? 0 : places[0], layout);
                }
            }
            for (int from = 0; from < choosing.size(); ) {
                int to = from + 1;
                while (to < choosing.size()
                        && choosing.get(to).hook().address()
                                        - choosing.get(to - 1).hook().address()
                                < CHUNK) {
                    to++;
                }
                planChoosing(choosing.subList(from, to), layout);
                from = to;
            }
            hops.addAll(room.newRanges());
            sites.sort((a, b) -> Long.compare(a.hook().address(), b.hook().address()));
        }

        /// Gives the sites hops at one distance: the first at which there is room for all.
        private void planChoosing(List<ProbeSite> near, StubLayout layout) throws IOException {
            SiteInstruction first = near.getFirst().hook();
            SiteInstruction last = near.getLast().hook();
            for (long place : instructions.sites().hops(first)) {
                long distance = place - first.address();
                long start = first.address() + distance;
                long end = last.address() + distance + instructions.sites().hop(0, 0).length;
                if (CodeMemory.reaches(start, end, base)
                        && CodeMemory.reaches(start, end, base + unwindTable)
                        && code.allocateAt(start, end)) {
                    hops.add(new TrampolineRange(start, end - start, TrampolineRange.Kind.LEAF));
                    for (ProbeSite site : near) {
                        planSite(site, site.hook().address() + distance, layout);
                    }
                    return;
                }
            }
            refused += near.size();
        }

        private void planSite(ProbeSite site, long hop, StubLayout layout) throws IOException {
            long stub = base + layout.nextStub(site.hook().role());
            try {
                long body = site.hook().address() + site.hook().length();
                long target = hop == 0 ? entryOf(site.hook(), stub) : hop;
                sites.add(new Site(site, stub, hop, null, 0, body, 0, callPatch.plan(site.hook(), target)));
            } catch (IllegalArgumentException e) {
                refused++;
            }
        }

        /// Writes the copy of the site's instructions, which is not reachable yet.
        private void planDisplaced(
                ProbeSite site, EntryPun pun, DisplacedEntries.Copy made, ConstrainedHops room, StubLayout layout)
                throws IOException {
            SiteInstruction hook = site.hook();
            int copySize = made.size();
            long stub = base + layout.nextStub(hook.role());
            long copy = base + layout.nextCopy(copySize);
            long gate = DisplacedEntries.isGated(site) ? base + layout.nextGate() : 0;
            boolean direct = pun.leadsAnywhere();
            EntryPun.Cut cut = pun.cut();
            long hop =
                    copySize == 0 || direct ? 0 : room.place(instructions.puns().behind(hook), pun.rules());
            if (made.code() == null || !direct && (hop == 0 || !CodeMemory.reaches(hop, hop, stub))) {
                refused++;
                return;
            }
            long entry = entryOf(site.hook(), stub);
            long target = !direct ? hop : gate == 0 ? entry : gate;
            PatchPlan plan = instructions.puns().plan(pun, target);
            if (cut != null && isExecuted(hook) && !displaced.isPassable(cut, plan)) {
                refused++;
                return;
            }
            displaced.write(hook, made.code(), copy, DisplacedEntries.hasTrap(site));
            sites.add(
                    cut == null
                            ? new Site(site, stub, hop, null, 0, copy, copySize, plan)
                            : new Site(
                                    site,
                                    stub,
                                    hop,
                                    plan,
                                    gate,
                                    copy,
                                    copySize,
                                    instructions.puns().gate(gate, entry, copy)));
        }

        /// Whether the text is a copy already, in which nothing can be prepared any more.
        private boolean isExecuted(SiteInstruction hook) {
            return code.hasAlias(hook.address()) || code.hasAlias(hook.address() + hook.length() - 1);
        }

        /// Where a site enters its stub.
        private long entryOf(SiteInstruction hook, long stub) {
            return hook.countsByJump() ? stub + instructions.stubs().countEntryAt() : stub;
        }

        /// In ascending order of address.
        public List<Site> sites() {
            return sites;
        }

        /// Whether its code contains an address.
        public boolean holds(long address) {
            return address >= base && address < base + unwindTable;
        }

        /// The function of the stub that contains an address, 0 if it is in no stub of a whole function.
        public long functionOfStub(long address) {
            if (!holds(address)) {
                return 0;
            }
            for (Site site : sites) {
                long offset = address - site.stub();
                if (site.hook().role() == SiteInstruction.Role.FUNCTION
                        && offset >= 0
                        && offset < instructions.stubs().functionStubSize()) {
                    return site.hook().function();
                }
            }
            return 0;
        }

        /// The possible targets of the stubs.
        public StubBodies bodies(SessionTables tables) {
            StubBodies made = bodies;
            if (made == null) {
                made = new StubBodies(instructions, body, base, code.alias(base), toCounter, tables);
                bodies = made;
            }
            return made;
        }

        /// Number of sites that cannot reach a trampoline.
        public int refused() {
            return refused;
        }

        /// Copies the text around its sites, and the hops in it; over an earlier copy, if possible.
        ///
        /// @throws org.mdlagent.arch.code.ChangedTextException when the program has replaced the text, or may
        ///     write to it
        /// @throws IOException when there is no memory
        public TextCopy copy() throws IOException {
            long[] changed = new long[2 * sites.size()];
            int count = 0;
            for (Site site : sites) {
                changed[count] = site.hook().address();
                count += isInText(changed[count]) ? 1 : 0;
                changed[count] = site.hop();
                count += isInText(changed[count]) ? 1 : 0;
            }
            Arrays.sort(changed, 0, count);
            copy = code.copy(text.start(), text.end(), Arrays.copyOf(changed, count), copy);
            return copy;
        }

        private boolean isInText(long address) {
            return address >= text.start() && address < text.end();
        }

        /// Start of the text.
        long start() {
            return text.start();
        }

        /// One past its last byte.
        long end() {
            return text.end();
        }

        /// Whether its copy is among these.
        boolean isCopiedTo(Set<TextCopy> copies) {
            return copy != null && copies.contains(copy);
        }

        /// What its sites are in; null before they have been made.
        @Nullable
        TextCopy shown() {
            return copy;
        }

        /// Whether the copy is mapped there now.
        public boolean isShown(MemoryMap memory) {
            return copy != null && code.isShown(copy, memory);
        }

        /// Marks the text as closed.
        public void forget() {
            gone = true;
            if (copy != null) {
                code.forget(copy);
            }
        }

        /// Lets stubs continue in copies of their functions.
        ///
        /// @param copies addresses by the address of the site
        void enter(Map<Long, Long> copies) {
            entered = copies;
        }

        private long continuation(Site site) {
            return entered.getOrDefault(site.hook().address(), site.body());
        }

        /// Writes a site's stub, and the hop to it. The text has been copied.
        ///
        /// @param record address of the site's record
        public void write(Site site, long record) {
            SiteInstruction hook = site.hook();
            long stub = site.stub();
            byte[] bytes = switch (hook.role()) {
                case ENTRY ->
                    instructions.stubs().hookStub(hook, site.probe().key(), record, stub, base + body.entry());
                case EXIT -> instructions.stubs().hookStub(hook, site.probe().key(), record, stub, base + body.exit());
                case FUNCTION ->
                    instructions
                            .stubs()
                            .functionStub(
                                    record,
                                    stub,
                                    continuation(site),
                                    base + body.functionEntry(),
                                    base + body.functionExit(),
                                    base + body.siblingExit());
                case COUNT ->
                    instructions
                            .stubs()
                            .countStub(record, stub, base + body.count(), hook.countsByJump() ? continuation(site) : 0);
                case COUNT_ALONE ->
                    instructions.stubs().countStub(record, stub, base + body.countAlone(), continuation(site));
            };
            Memory.put(code.alias(stub), bytes);
            if (gone && DisplacedEntries.isOne(hook)) {
                displaced.write(hook, site.body(), DisplacedEntries.hasTrap(site.probe()));
            }
            if (site.gate() != 0) {
                Memory.put(code.alias(site.gate()), instructions.sites().hop(site.gate(), site.body()));
            }
            if (site.hop() != 0) {
                long target = site.gate() == 0 ? entryOf(hook, stub) : site.gate();
                Memory.put(code.alias(site.hop()), instructions.sites().hop(site.hop(), target));
            }
        }

        /// Writes the counter of a whole function, if it has one. Its stub does not lead there yet.
        ///
        /// @param index of the function
        public void writeCounter(Site site, int index) {
            if (toCounter != 0 && site.hook().role() == SiteInstruction.Role.FUNCTION) {
                long at = site.stub() + toCounter;
                byte[] counter =
                        instructions.stubs().counter(at, site.stub(), continuation(site), index, recording.tlsOffset());
                Memory.put(code.alias(at), counter);
            }
        }

        /// Registers the code with unwinders and debuggers.
        ///
        /// @throws IOException when code memory is refused
        public void makeKnown() throws IOException {
            if (known) {
                return;
            }
            known = true;
            api.addTrampolines(base, unwindTable, base + unwindTable);
            for (TrampolineRange range : hops) {
                makeLeavesKnown(range);
            }
        }
    }

    /// Registers code that does not use the stack with unwinders and debuggers.
    ///
    /// @throws IOException when code memory is refused
    public void makeLeavesKnown(TrampolineRange range) throws IOException {
        makeKnown(range.start(), range.length(), List.of(range));
    }

    /// Registers code with unwinders and debuggers.
    ///
    /// @param ranges of this code
    /// @throws IOException when code memory is refused
    void makeKnown(long start, long length, List<TrampolineRange> ranges) throws IOException {
        int size = instructions.stubs().unwindTable(start, ranges, recording).length;
        long table = arena.allocate(start, start + length, size);
        Memory.put(code.alias(table), instructions.stubs().unwindTable(table, ranges, recording));
        api.addTrampolines(start, length, table);
    }

    private static long aligned(long address) {
        return address + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
