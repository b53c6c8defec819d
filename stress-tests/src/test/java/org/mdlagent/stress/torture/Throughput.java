package org.mdlagent.stress.torture;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.cpu.TmaxWait;
import org.mdlagent.stress.torture.Cell.Interference;
import org.mdlagent.stress.torture.Cell.Mode;
import org.mdlagent.stress.torture.Cell.Sync;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.TrapMode;
import org.mdlagent.wordpatch.WordPatch;

/// Throughput of an executor of one straddler, while its patcher is stopped for 100 ms before each step, compared
/// with no patching.
final class Throughput {
    static final String NAME = "throughput";

    private static final int OFFSET = 61;
    private static final Cell CELL =
            new Cell(Kind.CALL_NOP, 8, Sync.TMAX, Mode.PATCH, 1, true, 1, Interference.STOPPED, 1, false);

    private Throughput() {}

    /// Executions per second, by step; "beside": without patching.
    static CellResult measure(Laboratory laboratory) throws IOException {
        CellResult result = new CellResult(NAME);
        Sites sites = new Sites(laboratory, CELL, PunInstaller.TRAPS, List.of(OFFSET));
        Sites.Site site = sites.list().getFirst();
        long focus = laboratory.allocate(Long.BYTES);
        int core = Runtime.getRuntime().availableProcessors() - 1;
        Executor executor = Executor.start(laboratory.library(), sites.executor(focus, core, 0));
        Stops stops =
                new Stops(laboratory.api(), new TmaxWait(laboratory.api(), CellRun.TMAX_TICKS), executor::executions);
        WordPatch wordPatch = new WordPatch(
                laboratory.api(),
                stops.writer(),
                laboratory.code(),
                laboratory.arena(),
                laboratory.traps(),
                stops.sync(),
                TrapMode.REDIRECT,
                InstructionSet.ofAtomicUnit(CELL.unit()));
        Subject.Change change = site.subject().changes().getFirst();
        PatchSite place = wordPatch.site(site.address(), change.length());

        stops.stopThisThread();
        patch(wordPatch, place, change.second());
        patch(wordPatch, place, change.first());
        List<String> steps = stops.steps().subList(0, stops.steps().size() / 2);
        for (long word : new long[] {change.second(), change.first()}) {
            result.add(
                    "beside " + version(change, word == change.first() ? change.second() : change.first()),
                    beside(executor));
        }
        stops.limit(Long.MAX_VALUE);
        for (int step = 0; step < steps.size(); step++) {
            for (long word : new long[] {change.second(), change.first()}) {
                stops.stopBefore(step);
                patch(wordPatch, place, word);
                String from = version(change, word == change.first() ? change.second() : change.first());
                result.add("before step %2d (".formatted(step) + steps.get(step) + ") of " + from, (long)
                        stops.lastRate());
            }
        }
        boolean ended = executor.join();
        result.add("stalled", executor.stalled() + (ended ? 0 : 1));
        result.add("wrong", executor.wrong());
        result.add("longestGapMicros", executor.longestNanos() / 1000);
        return result;
    }

    private static String version(Subject.Change change, long word) {
        return word == change.first() ? "call" : "nop";
    }

    private static void patch(WordPatch wordPatch, PatchSite place, long word) {
        if (!(wordPatch.patch(place, word) instanceof PatchResult.Patched)) {
            throw new IllegalStateException("not patched");
        }
    }

    private static long beside(Executor executor) {
        long before = executor.executions();
        long start = System.nanoTime();
        LockSupport.parkNanos(Stops.STOP_NANOS);
        return (long) ((executor.executions() - before) * 1e9 / (System.nanoTime() - start));
    }
}
