package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.report.file.FunctionBytes;
import org.mdlagent.profiler.report.file.FunctionTable;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.statistics.EdgeSums;
import org.mdlagent.profiler.report.statistics.TotalErrors;

/// Reads a snapshot of all functions' records and adds it up. Used once.
final class ProfileReader {
    private final SessionBytes bytes;
    private final boolean allExact;
    private final FunctionTable functions;
    private final List<FunctionSums> sums = new ArrayList<>();
    private final EdgeSums edges;
    private final EdgeReader callers;
    private final RowReader rows;
    private final RingReader rings;

    private long dropped;
    private long unmatched;

    /// Calls in the blocks of each process's threads, by the offset of the process's record.
    private final Map<Long, Long> callsInBlocks = new HashMap<>();

    /// Blocks that threads have or had.
    private int threadCount;

    /// Selects the threads whose blocks are read.
    interface Wanted {
        Wanted ALL = (tid, process) -> true;

        /// @param process offset of its record, 0 for none
        boolean test(int tid, long process);
    }

    ProfileReader(SessionBytes bytes) throws IOException {
        this.bytes = bytes;
        allExact = FactsReader.isExact(bytes);
        functions = new FunctionTable(bytes);
        edges = new EdgeSums(functions.count());
        callers = new EdgeReader(bytes, edges, functions.count());
        rows = new RowReader(bytes);
        rings = new RingReader(bytes, functions.count());
    }

    Profile read(Wanted wanted) throws IOException {
        readFunctions();
        List<ThreadBytes> threads = ThreadBytes.all(bytes);
        readThreads(threads, wanted);
        // The session does not record which threads the CPU-time totals belong to.
        boolean events = !Collected.of(bytes.getInt(HeaderDescriptor.FLAGS)).hasProbes();
        long samples = wanted.equals(Wanted.ALL) && !events ? bytes.getLong(HeaderDescriptor.PC_SAMPLES) : 0;
        return profile(threads, samples);
    }

    /// Reads data that belongs to no single thread.
    private void readFunctions() throws IOException {
        double untold = FactsReader.untoldPart(bytes);
        for (int i = 0; i < functions.count(); i++) {
            FunctionBytes function = functions.get(i);
            FunctionSums sum = new FunctionSums(function, allExact || function.isEveryCallRecorded(), untold);
            sums.add(sum);
            int number = i;
            sum.read(() -> callers.read(number, function.callers()));
        }
    }

    private void readThreads(List<ThreadBytes> threads, Wanted wanted) throws IOException {
        CodeMap code = new CodeMap(functions);
        Callers places = new Callers(bytes, code, functions.count());
        for (ThreadBytes thread : threads) {
            long process = thread.process();
            ByteBuffer calls = thread.calls(functions);
            long ofOwner = callsOfOwner(thread, calls);
            callsInBlocks.merge(process, ofOwner, Math::addExact);
            // A process that gives up privileges keeps a spare block, without a thread id, for a later
            // thread.
            threadCount += thread.tid() != 0 || ofOwner > 0 ? 1 : 0;
            if (!wanted.test(thread.tid(), process)) {
                continue;
            }
            dropped = Math.addExact(dropped, thread.dropped());
            unmatched = Math.addExact(unmatched, thread.unmatched());
            addRows(thread, places);
            for (int i = 0; calls != null && i < sums.size(); i++) {
                FunctionSums sum = sums.get(i);
                long entered = calls.getLong(i * Long.BYTES);
                sum.read(() -> sum.addEntered(bytes.counted(entered)));
            }
            rings.undrained(
                    thread,
                    (function, start, ticks, caller) -> edges.add(function, code.callerAt(caller), 1, ticks, 1));
        }
    }

    /// Calls in a block that are not credited to a former owner.
    private long callsOfOwner(ThreadBytes thread, @Nullable ByteBuffer calls) throws IOException {
        long sum = -thread.credited();
        for (int i = 0; calls != null && i < calls.limit(); i += Long.BYTES) {
            long count = calls.getLong(i);
            sum = Math.addExact(sum, bytes.isPossible(count) ? count : 0);
        }
        return Math.max(0, sum); // below 0 while the block changes owner
    }

    private void addRows(ThreadBytes thread, Callers places) throws IOException {
        ByteBuffer addresses = thread.rows(functions);
        for (int i = 0; addresses != null && i < sums.size(); i++) {
            long row = addresses.getLong(i * Long.BYTES);
            int number = i;
            if (row != 0) {
                FunctionSums sum = sums.get(i);
                sum.read(() -> {
                    long at = bytes.offset(row, RowDescriptor.SIZE, "a row");
                    sum.addSelfTicks(rows.add(at, sum.latency));
                    sum.addNestedTicks(bytes.getCounter(at + RowDescriptor.NESTED));
                    sum.addTimed(
                            bytes.getCounter(at + RowDescriptor.COUNT),
                            bytes.getCounter(at + RowDescriptor.SAMPLES),
                            bytes.getInt(at + RowDescriptor.WEIGHT));
                    callers.readPlaces(number, bytes.getLong(at + RowDescriptor.CALLERS), places);
                });
            }
        }
    }

    private Profile profile(List<ThreadBytes> threads, long samples) throws IOException {
        List<Loss> losses = losses();
        boolean complete = losses.stream()
                .noneMatch(loss -> loss.reason() == Loss.Reason.THREADS || loss.reason() == Loss.Reason.AGENT);
        SessionFacts facts = FactsReader.read(bytes, threadCount);
        double nanosPerTick = facts.tscHz().isPresent() ? 1e9 / facts.tscHz().getAsDouble() : 0;
        double nanosPerUnit = facts.nanosPerUnit().orElse(0);
        ProbeCost cost = new ProbeCost(facts.cpuTime());
        List<FunctionProfile> profiles = new ArrayList<>(sums.size());
        double probeTicks = snippetTicks(threads) + cost.telling(facts.costs().samples());
        for (int i = 0; i < sums.size(); i++) {
            FunctionSums sum = sums.get(i);
            Latency latency = sum.latency.build(nanosPerUnit);
            long reports = edges.samples(i);
            sum.read(() -> {
                double self = allExact ? sum.selfTicks() * nanosPerUnit : -1;
                profiles.add(sum.profile(latency, self, reports, complete));
            });
            if (sum.isDamaged()) {
                edges.withhold(i);
                profiles.subList(i, profiles.size()).clear();
                profiles.add(sum.withheld(i));
            } else {
                double rate = profiles.getLast().calls() / facts.cpuSeconds();
                probeTicks += sum.probeTicks(cost, latency.count(), rate);
            }
        }
        addLoss(
                losses,
                Loss.Reason.DAMAGE,
                sums.stream().filter(FunctionSums::isDamaged).count());
        double[] independent = new double[sums.size()];
        for (int i = 0; i < independent.length; i++) {
            independent[i] = sums.get(i).independent(edges.samples(i));
        }
        PcSamplesReader cpu = new PcSamplesReader(bytes, profiles, samples);
        List<FunctionProfile> raised = edges.raised(profiles, new TotalErrors(profiles, facts, independent));
        List<EdgeSums.Estimate> between = edges.estimates(raised);
        List<FunctionProfile> known = cpu.withCpu(
                allExact
                        ? raised
                        : edges.withSelf(raised, between, new TotalErrors(raised, facts, independent), false));
        return new Profile(
                        facts,
                        known,
                        unmatched,
                        losses,
                        new FamilyReader(bytes).read(facts, callsInBlocks),
                        Math.round(probeTicks * nanosPerTick),
                        MetricReader.all(bytes, threads, facts.tscHz()),
                        EdgeSums.join(known, between))
                .withCpu(cpu.samples(), cpu.paths(known, facts.tscHz()));
    }

    private List<Loss> losses() throws IOException {
        boolean failed = bytes.getInt(HeaderDescriptor.STATE) == HeaderDescriptor.STATE_AGENT_DEAD;
        List<Loss> losses = new ArrayList<>();
        addLoss(losses, Loss.Reason.AGENT, failed ? 1 : 0);
        addLoss(losses, Loss.Reason.THREADS, bytes.getCounter(HeaderDescriptor.THREADS_REFUSED));
        addLoss(losses, Loss.Reason.IMAGES, bytes.getCounter(HeaderDescriptor.IMAGES_REFUSED));
        addLoss(losses, Loss.Reason.FUNCTIONS, bytes.getCounter(HeaderDescriptor.FUNCTIONS_REFUSED));
        addLoss(losses, Loss.Reason.PROCESSES, bytes.getCounter(HeaderDescriptor.PROCESSES_REFUSED));
        addLoss(losses, Loss.Reason.UNPROBED, bytes.getCounter(HeaderDescriptor.PROCESSES_UNPROBED));
        addLoss(losses, Loss.Reason.APART, Integer.toUnsignedLong(bytes.getInt(HeaderDescriptor.PROCESSES_APART)));
        addLoss(losses, Loss.Reason.CALLS, dropped);
        return losses;
    }

    private static void addLoss(List<Loss> losses, Loss.Reason reason, long count) {
        if (count > 0) {
            losses.add(new Loss(reason, count));
        }
    }

    /// The predicted cost of snippets, per run of each.
    private double snippetTicks(List<ThreadBytes> threads) throws IOException {
        double ticks = 0;
        for (ThreadBytes thread : threads) {
            long values = thread.values();
            ticks += values == 0 ? 0 : bytes.getLong(values + (long) ValueDescriptor.COST * Long.BYTES);
        }
        return ticks;
    }
}
