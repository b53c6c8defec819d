package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.WordPatch;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Two patchers change different bytes of one quadword back and forth: no change may be lost. Results: how often a
/// patcher did not find its own last change.
public class NeighboursInOneQuadword {
    private static final int TIMES = 8;
    private static final int INTERRUPTION = 32;

    private static int toggle(WordPatch patcher, PatchSite site, long one, long other) {
        int lost = 0;
        for (int i = 0; i < TIMES; i++) {
            long word = i % 2 == 0 ? one : other;
            PatchResult unused = patcher.patch(site, word);
            lost += site.word() == word ? 0 : 1;
        }
        return lost;
    }

    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Each found its own.")
    @Outcome(expect = FORBIDDEN, desc = "One has undone what the other did.")
    @State
    public static class Exchanged {
        private final PatchedCode code = new PatchedCode();
        private final PatchSite straddler = code.straddler(code.patcher());
        private final PatchSite neighbour = code.neighbour(code.patcher());

        @Actor
        public void first(II_Result r) {
            r.r1 = toggle(code.patcher(), straddler, PatchedCode.THREE, PatchedCode.TWO);
        }

        @Actor
        public void second(II_Result r) {
            r.r2 = toggle(code.patcher(), neighbour, PatchedCode.NEIGHBOUR_THREE, PatchedCode.NEIGHBOUR_TWO);
        }
    }

    /// Broken: stores all eight bytes blindly.
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Each found its own.")
    @Outcome(expect = FORBIDDEN, desc = "One has undone what the other did.")
    @State
    public static class StoredExhibit {
        private final PatchedCode code = new PatchedCode();
        private final WordPatch patcher = code.patcher(new StoringWriter());
        private final PatchSite straddler = code.straddler(patcher);
        private final PatchSite neighbour = code.neighbour(patcher);

        @Actor
        public void first(II_Result r) {
            r.r1 = toggle(patcher, straddler, PatchedCode.THREE, PatchedCode.TWO);
        }

        @Actor
        public void second(II_Result r) {
            r.r2 = toggle(patcher, neighbour, PatchedCode.NEIGHBOUR_THREE, PatchedCode.NEIGHBOUR_TWO);
        }
    }

    private static final class StoringWriter implements CodeWriter {
        @Override
        public void store(long alias, long value, int size) {
            PatchedCode.API.store(alias, value, size);
        }

        @Override
        public void replace(long alias, long mask, long value) {
            long seen = Memory.getLong(alias);
            for (int i = 0; i < INTERRUPTION; i++) {
                Thread.onSpinWait();
            }
            Memory.putLong(alias, seen & ~mask | value);
        }
    }
}
