package org.mdlagent.fastinst.snippet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.layout.BodiesDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.session.SiteRecords;
import org.mdlagent.arch.shim.Descriptors;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Optimiser;
import org.mdlagent.arch.snippet.PositionTable;
import org.mdlagent.arch.snippet.Snippet;

/// Snippets at probes: a chain for each, compiled into one piece of code (MDL paper, section 4: base and
/// mini-trampolines, fused). When a chain changes, new code is made and one word of the site's record is
/// stored. Threads run the old chain or the new one; the old code is freed when no thread is in it.
///
/// Snippets run beside the profiler and a probe's client. The order at an entry is snippets, client,
/// recorder; at a return, snippets are first as well. Used by one thread, the agent's.
public final class Snippets {
    private final NativeApi api;
    private final long header;
    private final SiteRecords sites;
    private final SnippetCode code;
    private final GracePeriod gracePeriod;
    private final Values values;
    private final CostModel costs;
    private final Descriptors descriptors;
    private final Map<Integer, Chain> chains = new HashMap<>();

    /// The pending chains, by probe, while changes are collected.
    private @Nullable Map<Integer, List<Placed>> wanted;

    private Set<Optimisation> optimisations = Optimisation.all();

    /// Position of a new snippet in the chain of its probe.
    public enum Order {
        /// Before existing snippets.
        PREPEND,
        /// After existing snippets.
        APPEND
    }

    /// A snippet's effect on what other snippets rely on.
    public enum Effect {
        /// It sets a flag or starts a timer, or has no such effect.
        BEGINS,
        /// It clears a flag that others set, or stops a timer that others start: it must be attached before
        /// them and detached after them.
        ENDS
    }

    /// The changes made by [#together].
    public interface Changes {
        void make() throws IOException;
    }

    /// A snippet at a probe. Compared by identity, because a chain may have the same code twice.
    private static final class Placed {
        private final Snippet snippet;
        private final Effect effect;

        Placed(Snippet snippet, Effect effect) {
            this.snippet = snippet;
            this.effect = effect;
        }
    }

    /// @param at address of the code
    private record Chain(List<Placed> placed, Body body, long at) {}

    public Snippets(NativeApi api, InstructionSet instructions, CodeMemory memory, RecordingEntryPoints recording) {
        this.api = api;
        header = api.session();
        sites = new SiteRecords(header);
        code = new SnippetCode(api, instructions, memory, recording);
        gracePeriod = new GracePeriod(api);
        values = new Values(api, gracePeriod);
        costs = new CostModel(api);
        descriptors = new Descriptors(api);
    }

    /// The cost of snippets on this machine.
    public CostModel costs() {
        return costs;
    }

    /// Maps descriptors to files.
    public Descriptors descriptors() {
        return descriptors;
    }

    /// The values that snippets write.
    public Values values() {
        return values;
    }

    /// A permanent table of numbers that snippets look up.
    ///
    /// @param direct whether numbers are indices themselves
    /// @throws IllegalStateException when the session file cannot grow
    public PositionTable positions(boolean direct) {
        return new PositionTable(api::allocate, direct);
    }

    /// The optimisations for code attached from now on: all of them, except to measure their effect.
    public void optimise(Set<Optimisation> optimisations) {
        this.optimisations = Set.copyOf(optimisations);
    }

    /// Runs `snippet` at a probe until it is detached. A snippet that stops a timer or clears a flag must be
    /// attached before the one that starts or sets it, and detached after it.
    ///
    /// @throws IllegalArgumentException when there is no such probe, or something that the snippet uses is
    ///     not available there
    /// @throws IllegalStateException when the agent's probes are switched off for good
    /// @throws IOException when code memory is refused
    public void attach(int probe, Order order, Snippet snippet) throws IOException {
        attach(probe, order, Effect.BEGINS, snippet);
    }

    /// Attaches a snippet that others may rely on.
    ///
    /// @throws IllegalArgumentException when there is no such probe, or something that the snippet uses is
    ///     not available there
    /// @throws IllegalStateException when the agent's probes are switched off for good
    /// @throws IOException when code memory is refused
    public void attach(int probe, Order order, Effect effect, Snippet snippet) throws IOException {
        code.require(new Optimiser(optimisations).optimise(List.of(snippet)), place(probe), optimisations);
        change(probe, placed -> placed.add(order == Order.PREPEND ? 0 : placed.size(), new Placed(snippet, effect)));
    }

    /// Detaches one snippet that equals `snippet` from a probe.
    ///
    /// @throws IllegalArgumentException when there is none
    /// @throws IllegalStateException when the agent's probes are switched off for good
    /// @throws IOException when code memory is refused
    public void detach(int probe, Snippet snippet) throws IOException {
        int at = at(probe).indexOf(snippet);
        if (at < 0) {
            throw new IllegalArgumentException("the snippet is not attached to probe " + probe);
        }
        change(probe, placed -> placed.remove(at));
    }

    /// Makes several changes take effect together, so that the code of a probe is made once for all of them,
    /// or twice if some must be in place before others. A refused attachment has no effect and does not stop
    /// the others.
    ///
    /// @throws IllegalStateException when the agent's probes are switched off for good
    /// @throws IOException when code memory is refused: some changes may have taken effect
    public void together(Changes changes) throws IOException {
        Map<Integer, List<Placed>> collected = new LinkedHashMap<>();
        wanted = collected;
        try {
            changes.make();
        } finally {
            wanted = null;
        }
        // Snippets that begin something are detached first and attached last.
        Map<Integer, Set<Placed>> before = new HashMap<>();
        for (Map.Entry<Integer, List<Placed>> one : collected.entrySet()) {
            before.put(one.getKey(), Set.copyOf(placed(one.getKey())));
            Set<Placed> after = Set.copyOf(one.getValue());
            replace(one.getKey(), endingOrIn(after, placed(one.getKey())));
        }
        for (Map.Entry<Integer, List<Placed>> one : collected.entrySet()) {
            Set<Placed> there = Objects.requireNonNull(before.get(one.getKey()));
            replace(one.getKey(), endingOrIn(there, one.getValue()));
        }
        for (Map.Entry<Integer, List<Placed>> one : collected.entrySet()) {
            replace(one.getKey(), one.getValue());
        }
    }

    private static List<Placed> endingOrIn(Set<Placed> those, List<Placed> placed) {
        return placed.stream()
                .filter(each -> each.effect == Effect.ENDS || those.contains(each))
                .toList();
    }

    private void change(int probe, Consumer<List<Placed>> change) throws IOException {
        if (wanted != null) {
            change.accept(wanted.computeIfAbsent(probe, key -> new ArrayList<>(placed(key))));
        } else {
            List<Placed> changed = new ArrayList<>(placed(probe));
            change.accept(changed);
            replace(probe, changed);
        }
    }

    /// The snippets of a probe, in the order in which they run.
    public List<Snippet> at(int probe) {
        List<Placed> collected = wanted == null ? null : wanted.get(probe);
        return snippets(collected == null ? placed(probe) : collected);
    }

    private List<Placed> placed(int probe) {
        Chain chain = chains.get(probe);
        return chain == null ? List.of() : chain.placed;
    }

    private static List<Snippet> snippets(List<Placed> placed) {
        return placed.stream().map(each -> each.snippet).toList();
    }

    /// Frees the code of detached snippets that no thread uses any more. To be called periodically.
    ///
    /// @throws IllegalStateException when the kernel has no membarrier: nothing is freed
    public void collect() {
        gracePeriod.poll();
        Memory.putLong(header + HeaderDescriptor.SNIPPET_BYTES, codeBytes());
    }

    /// Bytes of code in use or not freed yet.
    public long codeBytes() {
        return code.used();
    }

    /// Drops the snippets of probes whose library has been closed.
    public void forget(Collection<Integer> probes) {
        for (int probe : probes) {
            retire(chains.remove(probe));
        }
    }

    private void replace(int probe, List<Placed> placed) throws IOException {
        if (placed.equals(placed(probe))) {
            return;
        }
        Chain chain = placed.isEmpty() ? null : make(probe, placed);
        long status = api.snippets(probe, chain == null ? 0 : chain.at);
        if (status != 0) {
            retire(chain);
            throw status == NativeApi.NO_PROBE
                    ? noProbe(probe)
                    : new IllegalStateException("the probes are switched off");
        }
        retire(chain == null ? chains.remove(probe) : chains.put(probe, chain));
    }

    private SnippetPlace place(int probe) {
        SiteRecord site = sites.get(probe);
        int bodies = probe < 0 || probe >= sites.countAcquire() ? 0 : site.bodies();
        if (bodies == 0) {
            throw noProbe(probe);
        }
        return code.place(
                site.kind().body(), Memory.getLong(header + Integer.toUnsignedLong(bodies) + BodiesDescriptor.RESUME));
    }

    private Chain make(int probe, List<Placed> placed) throws IOException {
        SnippetPlace place = place(probe);
        Optimiser optimiser = new Optimiser(optimisations, new Optimiser.Pass("cost", costs::counting));
        List<Snippet> chain = optimiser.optimise(snippets(placed));
        return new Chain(List.copyOf(placed), place.body(), code.add(chain, place, optimisations));
    }

    private void retire(@Nullable Chain chain) {
        if (chain != null) {
            gracePeriod.retire(() -> code.remove(chain.at, chain.body));
        }
    }

    private static IllegalArgumentException noProbe(int probe) {
        return new IllegalArgumentException("no such probe, or the filters leave it out: " + probe);
    }
}
