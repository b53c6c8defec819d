package org.mdlagent.bench.patching;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.cpu.TmaxWait;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.Pending;
import org.mdlagent.wordpatch.TrapMode;
import org.mdlagent.wordpatch.WordPatch;
import org.mdlagent.wordpatch.WordPatch.StartResult;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Replacing an instruction with a four-byte operand: `mov $imm32,%eax`.
@Warmup(iterations = 3, time = 600, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class WordPatchBenchmark {
    static final int SITES = 20_000;
    static final int SYNCHRONOUS = 16;

    private static final int STRADDLING = 62;

    /// Sites and their successive contents.
    @State(Scope.Thread)
    public abstract static class Sites {
        private static final byte[] FUNCTION = {(byte) 0xB8, 0, 0, 0, 0, (byte) 0xC3}; // mov $0,%eax; ret
        private static final int LENGTH = 5;
        private static final long[] WORDS = {0x11_11_11_11_B8L, 0x22_22_22_22_B8L};

        final PatchedCode code;
        private final TrapTable traps;
        private final List<PatchSite> sites = new ArrayList<>(SITES);
        private final long[] words = new long[SITES];
        private final List<Pending> pending = new ArrayList<>(PatchedCode.EXECUTED);
        private final WordPatch tmax;
        private final WordPatch membarrier;
        private int round;

        Sites(int offset) {
            code = new PatchedCode(SITES, offset, FUNCTION);
            traps = new TrapTable(code.api);
            tmax = patcher(new TmaxWait(code.api, Machine.TMAX_TICKS));
            membarrier = patcher(new Membarrier(code.api));
            for (int i = 0; i < SITES; i++) {
                sites.add(tmax.site(code.function(i), LENGTH));
            }
        }

        private WordPatch patcher(CoreSync sync) {
            return new WordPatch(
                    code.api, code.api, code.code, code.arena, traps, sync, TrapMode.REDIRECT, InstructionSet.host());
        }

        private long nextWord() {
            return word(++round);
        }

        /// The contents of a site by round.
        static long word(int round) {
            return WORDS[round & 1];
        }

        void patchByTmax(int site, long word) {
            check(tmax.patch(sites.get(site), word));
        }

        void patchByMembarrier(int site, long word) {
            check(membarrier.patch(sites.get(site), word));
        }

        Pending start(int site, long word) {
            StartResult started = tmax.start(sites.get(site), word);
            return switch (started) {
                case Pending patch -> patch;
                case PatchResult result -> throw new AssertionError(result);
            };
        }

        void patchEachByTmax(int count) {
            long word = nextWord();
            for (int i = 0; i < count; i++) {
                patchByTmax(i, word);
            }
        }

        void patchEachByMembarrier(int count) {
            long word = nextWord();
            for (int i = 0; i < count; i++) {
                patchByMembarrier(i, word);
            }
        }

        /// Once the last has been started, the first need not wait.
        void startAndFinishEach() {
            long word = nextWord();
            pending.clear();
            for (int i = 0; i < PatchedCode.EXECUTED; i++) {
                pending.add(start(i, word));
            }
            boolean finished;
            do {
                finished = true;
                for (Pending patch : pending) {
                    finished &= patch.finish();
                }
            } while (!finished);
        }

        void patchTogether() {
            Arrays.fill(words, nextWord());
            for (PatchResult result : tmax.patchAll(sites, words)) {
                check(result);
            }
        }

        private static void check(PatchResult result) {
            if (!(result instanceof PatchResult.Patched)) {
                throw new AssertionError(result);
            }
        }
    }

    /// Sites that another thread may execute.
    @State(Scope.Thread)
    public abstract static class ExecutedSites extends Sites {
        /// Whether one does.
        @Param({"false", "true"})
        public boolean executed;

        ExecutedSites(int offset) {
            super(offset);
        }

        @Setup
        public void start() {
            if (executed) {
                code.execute();
            }
        }

        @TearDown
        public void stop() throws InterruptedException {
            code.stopExecuting();
        }
    }

    /// Instructions inside one atomic unit.
    public static class Whole extends ExecutedSites {
        public Whole() {
            super(64);
        }
    }

    /// Instructions with two bytes in one cache line and three in the next: straddlers on every processor.
    public static class Straddling extends ExecutedSites {
        public Straddling() {
            super(STRADDLING);
        }
    }

    /// The same, not executed.
    public static class StraddlingAlone extends Sites {
        public StraddlingAlone() {
            super(STRADDLING);
        }
    }

    @Benchmark
    public void whole(Whole sites) {
        sites.patchEachByTmax(PatchedCode.EXECUTED);
    }

    @Benchmark
    public void tmax(Straddling sites) {
        sites.patchEachByTmax(SYNCHRONOUS);
    }

    @Benchmark
    public void membarrier(Straddling sites) {
        sites.patchEachByMembarrier(SYNCHRONOUS);
    }

    @Benchmark
    public void async(Straddling sites) {
        sites.startAndFinishEach();
    }

    @Benchmark
    @Warmup(iterations = 3, time = 1_200, timeUnit = TimeUnit.MILLISECONDS)
    public void batch(StraddlingAlone sites) {
        sites.patchTogether();
    }
}
