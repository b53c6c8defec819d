package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.SourceTree;

/// The agent's steady-state cost for servers as Debian ships them, measured from outside.
///
/// Copies of a server run concurrently and get the same batch of requests in turn, a fraction of a second each, in
/// rotating order, so changes of the machine's speed affect all of them. A start's figure is a copy's CPU time
/// (all threads and processes) over the bare copy's, over all rounds. Memory layout differs between starts and
/// changes the figure by some percent, so there are several starts; the difference of two bare copies is also
/// reported.
public final class OverheadTable {
    private static final int STARTS = Integer.getInteger("mdl.bench.rounds", 7);
    private static final int ROUNDS = Integer.getInteger("mdl.bench.batches", 24);

    /// Warm-up load for the profiled copy: the agent recovers its start-up spending in the following seconds, so
    /// that both would otherwise be measured.
    private static final int WARM_UP_SECONDS = Integer.getInteger("mdl.bench.seconds", 40);

    /// The same for an agent without a budget.
    private static final int WARM_UP_SECONDS_IDLE = Math.min(10, WARM_UP_SECONDS);

    /// An unwatched copy has nothing to start.
    private static final int WARM_UP_SECONDS_BARE = Math.min(2, WARM_UP_SECONDS);

    private static final double BATCH_SECONDS = 0.5;

    /// Requests to determine the possible rate.
    private static final long FIRST_BATCH = 1000;

    /// A server and its watcher.
    private enum Copy {
        BARE("bare", Watcher.NOBODY),
        BARE_AGAIN("bare again", Watcher.NOBODY),
        IDLE("the agent without a profile", Watcher.IDLE),
        GOVERNED("the agent at 1 %", Watcher.GOVERNED);

        private final String what;
        private final Watcher watcher;

        Copy(String what, Watcher watcher) {
            this.what = what;
            this.watcher = watcher;
        }
    }

    /// A copy in one start.
    private static final class Sums {
        private final Copy copy;
        private final RunningService server;
        private long cpuNanos;
        private long wallNanos;
        private final List<Double> p99Micros = new ArrayList<>();

        Sums(Copy copy, RunningService server) {
            this.copy = copy;
            this.server = server;
        }
    }

    /// A copy's figures relative to the bare one's, by start.
    private static final class Ratios {
        private final double[] cpu = new double[STARTS];
        private final double[] wall = new double[STARTS];
        private final double[] p99 = new double[STARTS];
    }

    private final String source;
    private final Report report;
    private final Map<Copy, Ratios> ratios = new EnumMap<>(Copy.class);

    private OverheadTable(String source, Report report) {
        this.source = source;
        this.report = report;
        for (Copy copy : Copy.values()) {
            ratios.put(copy, new Ratios());
        }
    }

    /// @param args Debian's names of source packages, none for all services
    public static void main(String[] args) throws IOException, InterruptedException {
        List<Service> services = Service.named(args);
        Machine machine = Machine.of(SourceTree.harness());
        try (Report report = new Report("overhead", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "%d starts of %d rounds of %.1f s, after %d s of load; ratios to the bare copy: median of starts, quartiles in brackets",
                    STARTS,
                    ROUNDS,
                    BATCH_SECONDS,
                    WARM_UP_SECONDS));
            for (Service service : services) {
                if (!Files.exists(service.stock())) {
                    report.line(service.source() + ": absent: there is no " + service.stock());
                    continue;
                }
                OverheadTable table = new OverheadTable(service.source(), report);
                for (int start = 0; start < STARTS; start++) {
                    Progress.round(service.source(), start, STARTS, "copies side by side");
                    table.measure(start);
                }
                table.print(service);
            }
        }
    }

    private void measure(int start) throws IOException, InterruptedException {
        List<Sums> copies = new ArrayList<>();
        try {
            long size = FIRST_BATCH;
            for (Copy copy : Copy.values()) {
                RunningService server = start(copy);
                copies.add(new Sums(copy, server));
                size = warmUp(server, size, warmUpSeconds(copy));
            }
            for (int round = 0; round < ROUNDS; round++) {
                for (int turn = 0; turn < copies.size(); turn++) {
                    batch(copies.get((round + turn) % copies.size()), size);
                }
            }
            for (Sums copy : copies) {
                copy.server.stop();
            }
        } finally {
            copies.forEach(copy -> copy.server.close());
        }
        copies.forEach(copy -> note(start, copy, copies.getFirst()));
    }

    private static int warmUpSeconds(Copy copy) {
        return switch (copy) {
            case BARE, BARE_AGAIN -> WARM_UP_SECONDS_BARE;
            case IDLE -> WARM_UP_SECONDS_IDLE;
            case GOVERNED -> WARM_UP_SECONDS;
        };
    }

    /// @return how many requests make a batch
    private static long warmUp(RunningService server, long first, int seconds)
            throws IOException, InterruptedException {
        long size = first;
        for (double passed = 0; passed < seconds; ) {
            Service.Served served = server.batch(size);
            passed += served.requests() / served.perSecond();
            size = Math.max(1, (long) (served.perSecond() * BATCH_SECONDS));
        }
        return size;
    }

    private RunningService start(Copy copy) throws IOException, InterruptedException {
        Service service = Service.named(new String[] {source}).getFirst();
        return new RunningService(service, copy.watcher, service.stock(), "overhead-" + copy);
    }

    private static void batch(Sums sums, long size) throws IOException, InterruptedException {
        long cpu = sums.server.cpuNanos();
        Service.Served served = sums.server.batch(size);
        sums.cpuNanos += sums.server.cpuNanos() - cpu;
        sums.wallNanos += (long) (1e9 * served.requests() / served.perSecond());
        sums.p99Micros.add(served.p99Micros());
    }

    private void note(int start, Sums sums, Sums bare) {
        Ratios of = of(sums.copy);
        of.cpu[start] = (double) sums.cpuNanos / bare.cpuNanos;
        of.wall[start] = (double) sums.wallNanos / bare.wallNanos;
        of.p99[start] = Percentile.median(IntStream.range(0, ROUNDS)
                .mapToDouble(round -> sums.p99Micros.get(round) / bare.p99Micros.get(round))
                .toArray());
        report.raw(format(
                Locale.ROOT,
                "raw %s, start %d, %s: CPU %.3f s, wall %.3f s, p99 %.0f us",
                source,
                start,
                sums.copy.what,
                sums.cpuNanos / 1e9,
                sums.wallNanos / 1e9,
                Percentile.of(sums.p99Micros, 50)));
    }

    private void print(Service service) {
        report.line(service.work());
        report.line(format(Locale.ROOT, "  %-32s %-24s %-24s %s", "COPY", "CPU", "WALL", "P99 OF A REQUEST"));
        for (Copy copy : Copy.values()) {
            Ratios of = of(copy);
            report.line(format(
                    Locale.ROOT,
                    "  %-32s %-24s %-24s %s",
                    copy.what,
                    quartiles(of.cpu),
                    quartiles(of.wall),
                    quartiles(of.p99)));
        }
        report.figure(
                Target.PROFILING,
                source + ", CPU from outside",
                100 * (Percentile.median(of(Copy.GOVERNED).cpu) - 1),
                "");
        report.part(
                Target.PROFILING,
                source + ", CPU from outside",
                "a second bare copy",
                100 * (Percentile.median(of(Copy.BARE_AGAIN).cpu) - 1));
    }

    private Ratios of(Copy copy) {
        return Objects.requireNonNull(ratios.get(copy));
    }

    private static String quartiles(double[] values) {
        return format(
                Locale.ROOT,
                "%.3f (%.3f..%.3f)",
                Percentile.median(values),
                Percentile.of(values, 25),
                Percentile.of(values, 75));
    }
}
