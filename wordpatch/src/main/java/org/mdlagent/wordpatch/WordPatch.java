package org.mdlagent.wordpatch;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.wordpatch.TransitionProof.UnsafePatchException;

/// Replaces up to eight bytes of instructions while other threads execute them ("Living on the Edge", PLDI 2016,
/// sections 3 and 4, figures 4 to 7).
///
/// Assumes
///   A1 a store inside one atomic unit is fetched wholly or not at all ([org.mdlagent.arch.InstructionSet];
///      architectural for 8 bytes, empirical for 64)
///   A2 a core fetches what was stored before a ticket that is past ([CoreSync]; architectural for membarrier,
///      empirical for T_max)
///   A3 threads that execute the site have not blocked SIGTRAP (the shim's masks see to it)
///   A4 nobody else stores to the site's bytes
///   A5 a trap is handled after its thread has serialised, as returning from a signal does (architectural: IRET)
/// Guarantees
///   G1 a thread that executes an instruction of the site executes that of the old word or that of the new one,
///      wholly; a thread between two of them may find the next one old or new
///   G2 that is true however long a patcher stops between two steps, or if it never goes on
///   G3 patches of overlapping bytes do not run at the same time; patches of other bytes, even in the same unit, do
///      not disturb each other
///   G4 what cannot be proved to be safe is rejected, and nothing has been stored
/// Progress
///   P1 threads that execute the site never wait ([TrapMode#REDIRECT]): they trap, and execute the old instruction
///      elsewhere
///   P2 a patch that was left unfinished can be finished by any patcher
///   P3 patchers of different sites do not wait for each other; one wait serves any number of sites ([#patchAll])
///
/// | step | patcher | executor |
/// | --- | --- | --- |
/// | 1 | publish the trap row of the old straddling instruction, and those inside the new word | |
/// | 2 | store the trapping byte over that instruction's head | traps; finds the row; executes the old instruction |
/// | 3 | sync | nobody has fetched the old head any more |
/// | 4 | store the tail: the bytes behind the boundary | fetches old or new instructions behind the straddling one |
/// | 5 | sync | whoever fetches the tail gets the new one |
/// | 6 | store the front: the bytes before the boundary | fetches the new instruction, or traps late |
/// | 7 | withdraw the row | a thread that trapped late tries the instruction again |
///
/// Words whose changes lie on one side of the boundary need step 6 or step 4 alone, words without a straddling
/// instruction both in any order. A store to one side of a straddling instruction is not followed by one to the other
/// before a sync, lest a core combine the two as they never were together: such a patch takes all steps.
///
/// A batch takes each step at all its sites before the next. Which steps a site needs is found out when it is taken,
/// and what they store is written down; a step is then the stores of a list, one after the other. In step 1 all rows
/// are published before step 2 begins.
public final class WordPatch {
    /// The result of [WordPatch#start]: a patch to be finished, or a final result.
    public sealed interface StartResult permits Pending, PatchResult {}

    private static final PatchResult PATCHED = new PatchResult.Patched();
    private static final PatchResult CONTENDED = new PatchResult.Contended();

    private final CodeWriter writer;
    private final CodeMemory code;
    private final TrapTable traps;
    private final CoreSync sync;
    private final byte trapByte;
    private final int atomicUnit;
    private final TransitionProof proof;

    /// Sites by the address of their first byte; guarded by itself.
    private final TreeMap<Long, PatchSite> sites = new TreeMap<>();

    /// @param api    decodes
    /// @param writer stores to code: `api`, or a test's wrapper around it
    /// @param code   provides the sites' aliases
    /// @param arena  for copies of instructions that a redirected thread executes
    /// @param traps  the session's trap table
    /// @param sync   between the steps
    public WordPatch(
            NativeApi api,
            CodeWriter writer,
            CodeMemory code,
            CodeArena arena,
            TrapTable traps,
            CoreSync sync,
            TrapMode mode,
            InstructionSet instructions) {
        this.writer = writer;
        this.code = code;
        this.traps = traps;
        this.sync = sync;
        trapByte = instructions.relocation().trapByte();
        atomicUnit = instructions.atomicUnit();
        proof = new TransitionProof(api, code, arena, traps, mode, instructions);
    }

    /// The site of `length` bytes, 1 to 8, at `address`: whole instructions. Equal arguments return the same
    /// site.
    ///
    /// @throws IllegalArgumentException when the bytes have no writable alias, or the length is out of range
    public PatchSite site(long address, int length) {
        if (length < 1 || length > Long.BYTES) {
            throw new IllegalArgumentException("a patch site has 1 to 8 bytes, not " + length);
        }
        long alias = code.alias(address);
        if (code.alias(address + length - 1) != alias + length - 1) {
            throw new IllegalArgumentException("the bytes at 0x" + Long.toHexString(address) + " have no common alias");
        }
        PatchSite site = new PatchSite(address, length, alias, atomicUnit);
        synchronized (sites) {
            for (PatchSite known = sites.get(address); known != null; known = known.nextThere()) {
                if (known.length() == length) {
                    return known;
                }
            }
            for (PatchSite first :
                    sites.subMap(address - Long.BYTES, address + length).values()) {
                for (PatchSite known = first; known != null; known = known.nextThere()) {
                    if (known.overlaps(site)) {
                        known.addOverlapping(site);
                        site.addOverlapping(known);
                    }
                }
            }
            site.nextThere(sites.put(address, site));
        }
        return site;
    }

    /// Makes `word` the site's bytes and returns when that is done: two waits for a straddler, none
    /// otherwise.
    ///
    /// @param word the new bytes, little-endian; bytes beyond the site's length are ignored
    public PatchResult patch(PatchSite site, long word) {
        StartResult started = start(site, word);
        return switch (started) {
            case Pending patch -> {
                patch.await();
                yield PATCHED;
            }
            case PatchResult result -> result;
        };
    }

    /// Starts to make `word` the site's bytes, without waiting. [Pending#finish] does the rest later.
    ///
    /// @param word as for [#patch]
    public StartResult start(PatchSite site, long word) {
        StartResult begun = begin(site, word);
        if (begun instanceof Pending patch) {
            try {
                step(patch);
            } finally {
                patch.letGo();
            }
            return patch.isFinished() ? PATCHED : patch;
        }
        return begun;
    }

    /// Patches many sites, with two waits in all, or none if there is no straddler among them. No other
    /// patcher can finish these patches meanwhile. If this patcher fails, the started part is one patch,
    /// pending at all of its sites: finishing it at one site finishes all.
    ///
    /// All sites take a step before any takes the next. A site that occurs twice, or overlaps another one, is
    /// contended the second time.
    ///
    /// @param words the new bytes of each
    /// @return the result of each
    public List<PatchResult> patchAll(List<PatchSite> sites, long[] words) {
        PatchResult[] results = new PatchResult[words.length];
        Batch batch = new Batch(this, words.length);
        try {
            for (int i = 0; i < words.length; i++) {
                results[i] = add(batch, sites.get(i), words[i]);
            }
            step(batch);
            while (batch.state() != Pending.State.FINISHED) {
                sync.await(batch.ticket());
                step(batch);
            }
        } finally {
            batch.letGo();
        }
        return Arrays.asList(results);
    }

    /// Takes the site, and computes how its word becomes `word`.
    ///
    /// @return a patch held by the caller, or the final result
    private StartResult begin(PatchSite site, long word) {
        SitePatch patch = new SitePatch(this, site);
        boolean begun = false;
        try {
            if (!site.take(patch)) {
                return CONTENDED;
            }
            Transition transition = transition(site, word);
            if (transition == null) {
                return PATCHED;
            }
            patch.transition(transition);
            begun = true;
            return patch;
        } catch (UnsafePatchException e) {
            return new PatchResult.Rejected(e.reason());
        } finally {
            if (!begun) {
                // Also for patchers that have seen the patch meanwhile and wait for its end.
                patch.state(Pending.State.FINISHED);
                patch.letGo();
            }
        }
    }

    /// Takes the site, and collects the stores of each step.
    private PatchResult add(Batch batch, PatchSite site, long word) {
        if (!site.take(batch)) {
            return CONTENDED;
        }
        boolean added = false;
        try {
            Transition transition = transition(site, word);
            if (transition != null) {
                add(batch, site, transition);
                added = true;
            }
            return PATCHED;
        } catch (UnsafePatchException e) {
            return new PatchResult.Rejected(e.reason());
        } finally {
            if (!added) {
                site.giveBack();
            }
        }
    }

    /// How the site's word becomes `word`; null if they are equal.
    private @Nullable Transition transition(PatchSite site, long word) throws UnsafePatchException {
        long from = site.word();
        long to = word & Part.bits(site.length());
        if (from == to) {
            return null;
        }
        Transition known = site.transition(from, to);
        if (known != null) {
            return known;
        }
        Transition transition = proof.prove(site, from, to);
        site.keep(transition);
        return transition;
    }

    /// Whether the step after a state may be taken now. Never waits.
    boolean isDue(int state, long ticket) {
        return state == Pending.State.STARTING.ordinal() || sync.isPast(ticket);
    }

    void awaitDue(int state, long ticket) {
        if (state != Pending.State.STARTING.ordinal()) {
            sync.await(ticket);
        }
    }

    /// Takes the steps up to the next sync. Called by the holder.
    void step(Pending patch) {
        patch.store(this);
        if (patch.state() != Pending.State.FINISHED) {
            patch.ticket(sync.ticket());
        }
    }

    /// The steps of one site.
    void store(SitePatch patch) {
        PatchSite site = patch.site();
        Transition transition = patch.transition();
        switch (patch.state()) {
            case STARTING -> patch.state(storeFirst(site, transition));
            case FIRST_WAIT -> {
                tail(site).store(writer, transition.to()); // Step 4.
                patch.state(Pending.State.SECOND_WAIT);
            }
            case SECOND_WAIT -> {
                // Step 6.
                site.front().store(writer, transition.to());
                // Step 7.
                Transition.Head head = transition.head();
                if (head != null && !head.stays()) {
                    traps.withdraw(head.row());
                }
                site.bothSidesChange();
                patch.state(Pending.State.FINISHED);
            }
            case HELD, FINISHED -> throw new IllegalStateException("the patch is finished");
        }
    }

    private Pending.State storeFirst(PatchSite site, Transition transition) {
        // Step 1.
        for (Transition.Trap trap : transition.interior()) {
            traps.publish(trap.row(), trap.action());
        }
        if (takesOneStep(site, transition)) {
            // Step 4 or 6 alone; both, when no instruction needs both.
            Part onlySide = transition.onlySide();
            if (onlySide == null) {
                tail(site).store(writer, transition.to());
                site.front().store(writer, transition.to());
            } else {
                onlySide.store(writer, transition.to());
                if (transition.straddles()) {
                    site.sideStored(onlySide, sync.ticket());
                }
            }
            return Pending.State.FINISHED;
        }
        Transition.Head head = transition.head();
        if (head == null) {
            // Step 4: no thread can be at the new straddling instruction yet.
            tail(site).store(writer, transition.to());
            return Pending.State.SECOND_WAIT;
        }
        traps.publish(head.row(), head.action());
        // Step 2.
        writer.store(head.alias(), trapByte, 1);
        return Pending.State.FIRST_WAIT;
    }

    /// Collects the stores of [#store(Batch)].
    private void add(Batch batch, PatchSite site, Transition transition) {
        List<Transition.Trap> interior = transition.interior();
        batch.reserve(interior.size());
        for (int i = 0; i < interior.size(); i++) { // An iterator per site is expensive.
            TrapTable.add(batch.interior, interior.get(i).row(), interior.get(i).action());
        }
        if (takesOneStep(site, transition)) {
            Part onlySide = transition.onlySide();
            if (onlySide == null) {
                tail(site).addTo(batch.first, transition.to());
                site.front().addTo(batch.first, transition.to());
            } else {
                onlySide.addTo(batch.first, transition.to());
                if (transition.straddles()) {
                    batch.oneSided.add(site);
                    batch.onlySides.add(onlySide);
                }
            }
            return;
        }
        Transition.Head head = transition.head();
        if (head != null) {
            if (!head.stays()) {
                TrapTable.add(batch.rows, head.row(), head.action());
            }
            batch.first.addByte(head.alias(), trapByte);
        }
        tail(site).addTo(batch.tails, transition.to());
        site.front().addTo(batch.fronts, transition.to());
        site.bothSidesChange();
    }

    /// The steps of all sites of a batch.
    void store(Batch batch) {
        switch (batch.state()) {
            case STARTING -> {
                // Step 1.
                traps.publishAll(batch.interior);
                traps.publishAll(batch.rows);
                // Step 2, and for sites that take one step 4 or 6.
                writer.replaceAll(batch.first);
                if (!batch.oneSided.isEmpty()) {
                    long ticket = sync.ticket();
                    for (int i = 0; i < batch.oneSided.size(); i++) {
                        batch.oneSided.get(i).sideStored(batch.onlySides.get(i), ticket);
                    }
                }
                batch.state(batch.tails.isEmpty() ? Pending.State.FINISHED : Pending.State.FIRST_WAIT);
            }
            case FIRST_WAIT -> {
                writer.replaceAll(batch.tails); // Step 4.
                batch.state(Pending.State.SECOND_WAIT);
            }
            case SECOND_WAIT -> {
                writer.replaceAll(batch.fronts); // Step 6.
                traps.withdrawAll(batch.rows); // Step 7.
                batch.state(Pending.State.FINISHED);
            }
            case HELD, FINISHED -> throw new IllegalStateException("the patch is finished");
        }
        if (batch.state() == Pending.State.FINISHED) {
            batch.forget();
        }
    }

    /// Whether the change may be stored at once: no thread can execute a half-changed instruction.
    private boolean takesOneStep(PatchSite site, Transition transition) {
        Part onlySide = transition.onlySide();
        return !transition.straddles() || onlySide != null && !site.mayMixWithOtherSide(onlySide, sync);
    }

    private static Part tail(PatchSite site) {
        return Objects.requireNonNull(site.tail());
    }
}
