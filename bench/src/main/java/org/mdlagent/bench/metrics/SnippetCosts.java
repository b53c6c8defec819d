package org.mdlagent.bench.metrics;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Expression.Relation;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Expression.Width;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.PositionTable;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.Run;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Stop;
import org.mdlagent.arch.snippet.Statement.Store;
import org.mdlagent.bench.probes.NativeLibrary;
import org.mdlagent.bench.probes.ProbedLibrary;
import org.mdlagent.bench.report.Bars;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.fastinst.snippet.Values;

/// Measures the cost of snippets per call of an empty function (MDL paper, figures 6 and 7): single snippets, and
/// many guarded ones at one probe. Compared with Paradyn's cost model.
///
/// Variants are interleaved. In each round each variant is attached, called several times, and detached; the
/// round's figure is the median of these calls minus the median without snippets. Recording is off. Each chain
/// counts its own cost (observed cost).
public final class SnippetCosts {
    /// Minimum bar, for values within the noise.
    private static final double TICKS_MIN = 0.1;

    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 5);
    private static final int REPEATS = 15;
    private static final int CALLS = 10_000;
    private static final int FEWER_CALLS = 500;
    private static final int MANY = 100;
    private static final int PRODUCTS = 4;
    private static final int FLAGS = 20;
    private static final int INSTANCES_MAX = 10_000;

    private final NativeApi api;
    private final Snippets snippets;
    private final Values values;
    private final long call;
    private final long function;
    private final long trapping;
    private final int entry;
    private final int end;
    private final List<SnippetVariant> variants = new ArrayList<>();
    private int ofInstances;

    private SnippetCosts(NativeApi api, Path path) throws IOException {
        this.api = api;
        NativeLibrary library = new NativeLibrary(path);
        call = library.address("call");
        function = library.address("empty");
        ProbedLibrary probes = new ProbedLibrary(api);
        snippets = probes.snippets();
        values = snippets.values();
        int[] of = probes.probesOf(probes.function(function));
        entry = of[0];
        end = of[1];
        trapping = trapping();
    }

    /// Code that traps and is redirected to the function.
    private long trapping() throws IOException {
        CodeMemory memory = new CodeMemory(api);
        long address = memory.allocateNear(function, function, 1);
        TrapTable traps = new TrapTable(api);
        traps.publish(traps.row(address), new Redirect.Jump(function).action());
        Memory.putByte(memory.alias(address), InstructionSet.host().relocation().trapByte());
        return address;
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        NativeApi api = SourceTree.harness();
        Path library = build.compile(
                SourceTree.scratch("snippets").resolve("libempty.so"),
                List.of("-O2", "-fPIC", "-shared"),
                List.of(SourceTree.source("empty.c"), SourceTree.source("drive.c")));
        SnippetCosts costs = new SnippetCosts(api, library);
        costs.addAll();
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(round, ROUNDS);
            for (SnippetVariant variant : costs.variants) {
                variant.rounds().add(costs.measure(variant));
            }
        }
        try (Report report = new Report("snippets-" + build.name().toLowerCase(Locale.ROOT), Machine.of(api))) {
            costs.print(report, build);
        }
    }

    private void addAll() {
        int counter = values.counter();
        int set = values.flag();
        int clear = values.flag();
        int wall = values.timer(Clock.WALL);
        int cpu = values.timer(Clock.THREAD_CPU);
        Snippet nothing = Snippet.of();
        Snippet count = Snippet.of(new Add(counter, new Constant(1)));
        Snippet open = Snippet.of(new Store(set, new Constant(1)));
        addBoth(SnippetVariant.NOTHING, List.of(nothing), List.of());
        addWithout(Optimisation.SAVES_ON_DEMAND, "  with all registers saved", List.of(nothing));
        variants.add(
                new SnippetVariant(SnippetVariant.TRAPPED, List.of(nothing), List.of(), Optimisation.all(), trapping));
        addBoth(SnippetVariant.COUNTER, List.of(count), List.of());
        addBoth("a counter behind a flag that is not set", List.of(count.constrained(clear)), List.of());
        addBoth("a flag that is set, and a counter behind it", List.of(open, count.constrained(set)), List.of());
        addBoth(
                SnippetVariant.WALL_TIMER,
                List.of(Snippet.of(new Start(wall, Clock.WALL))),
                List.of(Snippet.of(new Stop(wall, Clock.WALL))));
        addBoth(
                SnippetVariant.PROCESS_TIMER,
                List.of(Snippet.of(new Start(cpu, Clock.THREAD_CPU))),
                List.of(Snippet.of(new Stop(cpu, Clock.THREAD_CPU))));
        Expression.Call labs = new Expression.Call(api.findSymbol("labs", ""), List.of(new Constant(-1)), counter);
        add("a call of a function that does next to nothing", List.of(Snippet.of(new Run(labs))));
        for (int n : new int[] {1, 10, 100, 1000}) {
            int first = counters(n);
            List<Snippet> guarded = IntStream.range(0, n)
                    .mapToObj(
                            i -> Snippet.of(new Add(first + i, new Constant(1))).constrained(values.flag()))
                    .toList();
            String what = format(Locale.ROOT, "%,d counters, each behind a flag of its own", n);
            if (n > MANY) {
                add(what, guarded); // unoptimised, it is 100 KiB, regenerated for each
            } else {
                addBoth(what, guarded, List.of());
            }
            addVectorised(n);
        }
        for (boolean direct : new boolean[] {true, false}) {
            for (int n : new int[] {1, 10, 100, 1000, 10_000}) {
                addByArgument(n, direct);
            }
        }
        addWithoutEach(counter);
    }

    /// A chain with something in it for each optimisation: with all of them, and without each.
    private void addWithoutEach(int counter) {
        Expression product = new Binary(
                Operator.MULTIPLY, new Load(api.session(), Width.U64), new Load(api.session() + Long.BYTES, Width.U64));
        Expression constant = new Binary(Operator.MULTIPLY, new Constant(3), new Constant(5));
        Snippet sum = Snippet.of(new Add(counter, new Binary(Operator.ADD, product, constant)));
        List<Snippet> chain = new ArrayList<>(Collections.nCopies(PRODUCTS, sum));
        chain.addAll(guarded(FLAGS, sets(FLAGS)));
        String what = format(Locale.ROOT, "%d sums of products and %d guarded counters", PRODUCTS, FLAGS);
        addBoth(what, chain, List.of());
        for (Optimisation optimisation : Optimisation.values()) {
            String name = optimisation.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            addWithout(optimisation, "  without " + name, chain);
        }
    }

    private void addWithout(Optimisation optimisation, String what, List<Snippet> atEntry) {
        Set<Optimisation> others = EnumSet.complementOf(EnumSet.of(optimisation));
        variants.add(new SnippetVariant(what, atEntry, List.of(), others, function));
    }

    /// The same with flags in sets: with none and with one set.
    private void addVectorised(int n) {
        int[] sets = sets(n);
        List<Snippet> guarded = guarded(n, sets);
        String what = format(Locale.ROOT, "%,d counters, vectorised, with ", n);
        add(what + "no flag set", guarded);
        Snippet mark = Snippet.of(new Store(sets[0], new Constant(1)));
        add(
                what + "one flag set",
                Stream.concat(Stream.of(mark), guarded.stream()).toList());
    }

    /// Adjacent counters, one of which a number selects.
    private void addByArgument(int n, boolean direct) {
        PositionTable table = snippets.positions(direct);
        long word = api.allocate(Long.BYTES);
        int selector = values.flag();
        int first = counters(n);
        for (int i = 0; i < n; i++) {
            table.add(direct ? i : 0x7F00_0000_0000L + 64L * i, i + 1);
        }
        Memory.putLong(word, direct ? n / 2 : 0x7F00_0000_0000L + 64L * (n / 2));
        List<Snippet> chain = new ArrayList<>();
        chain.add(Snippet.of(new Store(selector, table.of(new Load(word, Width.U64)))));
        for (int i = 0; i < n; i++) {
            chain.add(Snippet.of(new Add(first + i, new Constant(1)))
                    .constrained(new Compare(Relation.EQUAL, new Value(selector), new Constant(i + 1))));
        }
        String how = direct ? "direct" : "hashed";
        add(format(Locale.ROOT, "%,d counters, one selected by a number, %s", n, how), chain);
    }

    /// Variants share counters, because they run in turn.
    private int counters(int n) {
        if (ofInstances == 0) {
            ofInstances = values.counters(INSTANCES_MAX);
        }
        if (ofInstances == 0) {
            throw new IllegalStateException("no room for " + n + " counters");
        }
        return ofInstances;
    }

    private int[] sets(int flags) {
        return IntStream.range(0, Math.ceilDiv(flags, Long.SIZE))
                .map(i -> values.flag())
                .toArray();
    }

    /// Adjacent counters, guarded by flags in sets.
    private List<Snippet> guarded(int n, int[] sets) {
        int first = counters(n);
        return IntStream.range(0, n)
                .mapToObj(i -> Snippet.of(new Add(first + i, new Constant(1)))
                        .constrained(new Member(sets[i / Long.SIZE], i % Long.SIZE)))
                .toList();
    }

    private void add(String what, List<Snippet> atEntry) {
        variants.add(new SnippetVariant(what, atEntry, List.of(), Optimisation.all(), function));
    }

    private void addBoth(String what, List<Snippet> atEntry, List<Snippet> atEnd) {
        variants.add(new SnippetVariant(what, atEntry, atEnd, Optimisation.all(), function));
        variants.add(new SnippetVariant(what + ", not optimised", atEntry, atEnd, Set.of(), function));
    }

    private double measure(SnippetVariant variant) throws IOException {
        int calls = variant.atEntry().size() > MANY || variant.entry() != function ? FEWER_CALLS : CALLS;
        double without = ticks(function, calls);
        snippets.optimise(variant.optimisations());
        attach(end, variant.atEnd());
        attach(entry, variant.atEntry());
        double with = ticks(variant.entry(), calls);
        detach(entry, variant.atEntry());
        detach(end, variant.atEnd());
        return with - without;
    }

    /// Each chain's code is removed afterwards: together they would exhaust code memory.
    private void attach(int probe, List<Snippet> chain) throws IOException {
        if (chain.size() > MANY) {
            snippets.together(() -> {
                for (Snippet snippet : chain) {
                    snippets.attach(probe, Snippets.Order.APPEND, snippet);
                }
            });
            snippets.collect();
            return;
        }
        for (Snippet snippet : chain) {
            snippets.attach(probe, Snippets.Order.APPEND, snippet);
            snippets.collect();
        }
    }

    private void detach(int probe, List<Snippet> chain) throws IOException {
        if (chain.size() > MANY) {
            snippets.together(() -> {
                for (Snippet snippet : chain) {
                    snippets.detach(probe, snippet);
                }
            });
            snippets.collect();
            return;
        }
        for (Snippet snippet : chain) {
            snippets.detach(probe, snippet);
            snippets.collect();
        }
    }

    /// Average per call.
    private double ticks(long called, int calls) {
        double[] ticks = new double[REPEATS];
        for (int i = 0; i < REPEATS; i++) {
            long start = api.tsc();
            long unused = NativeLibrary.call(call, called, calls);
            ticks[i] = (double) (api.tsc() - start) / calls;
        }
        return Percentile.median(ticks);
    }

    private void print(Report report, Build build) throws IOException {
        Bars bars = new Bars("What snippets add to a call, compiled with " + build, Axis.logarithmic("ticks"));
        report.line(format(
                Locale.ROOT,
                "Ticks that snippets add to a call, compiled with %s: of %d rounds; and what the agent predicts",
                build,
                ROUNDS));
        report.line(format(
                Locale.ROOT,
                "%-62s %9s %9s %9s %9s %7s %11s",
                "SNIPPETS",
                "BEST",
                "MEDIAN",
                "P90",
                "PREDICTED",
                "FACTOR",
                "PARADYN"));
        for (SnippetVariant variant : variants) {
            double median = Percentile.of(variant.rounds(), 50);
            double predicted = variant.predicted(snippets.costs());
            report.line(format(
                    Locale.ROOT,
                    "%-62s %,9.1f %,9.1f %,9.1f %,9.1f %7s %11s",
                    variant.what(),
                    Percentile.of(variant.rounds(), 0),
                    median,
                    Percentile.of(variant.rounds(), 90),
                    predicted,
                    variant.entry() == function ? format(Locale.ROOT, "%.2f", predicted / median) : "-",
                    variant.paradyn()));
            bars.bar("measured (median)", variant.what(), Math.max(TICKS_MIN, median))
                    .bar("as the agent predicts", variant.what(), predicted);
        }
        report.line("Flags are not set but where it says so; predictions are for flags that are, one in each set.");
        report.line("PARADYN: what Paradyn took the same to cost on its machines, by its sources of 1994 to 2007.");
        report.plot("costs", bars);
        for (SnippetVariant variant : variants) {
            report.raw(format(
                    Locale.ROOT,
                    "raw %s: %s",
                    variant.what(),
                    variant.rounds().stream()
                            .map(ticks -> format(Locale.ROOT, "%.2f", ticks))
                            .collect(Collectors.joining(" "))));
        }
    }
}
