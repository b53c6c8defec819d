package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.jspecify.annotations.Nullable;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.Pending;
import org.mdlagent.wordpatch.WordPatch.StartResult;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/// Two patchers start on overlapping sites: at most one may succeed.
public class OverlappingSites {
    @JCStressTest
    @Outcome(id = "pending, contended, trap tail2 front2", expect = ACCEPTABLE, desc = "The first takes its site.")
    @Outcome(id = "contended, pending, trap tail3 front3", expect = ACCEPTABLE, desc = "The second takes its site.")
    @Outcome(id = "contended, contended, ", expect = ACCEPTABLE, desc = "Each sees the other one trying.")
    @Outcome(expect = FORBIDDEN, desc = "Both patch, or stores are lost, repeated or mixed.")
    @State
    public static class Known {
        private final PatchedCode code = new PatchedCode();
        private final PatchSite straddler = code.straddler(code.patcher());
        private final PatchSite longer = code.longer(code.patcher());
        private StartResult first = new PatchResult.Contended();
        private StartResult second = first;

        @Actor
        public void first(LLL_Result r) {
            first = code.patcher().start(straddler, PatchedCode.TWO);
            r.r1 = PatchedCode.name(first);
        }

        @Actor
        public void second(LLL_Result r) {
            second = code.patcher().start(longer, PatchedCode.LONG_THREE);
            r.r2 = PatchedCode.name(second);
        }

        @Arbiter
        public void finish(LLL_Result r) {
            PatchedCode.finish(first);
            PatchedCode.finish(second);
            r.r3 = code.steps();
        }
    }

    /// The sites learn of each other during patching.
    @JCStressTest
    @Outcome(id = "pending, contended, trap tail2 front2", expect = ACCEPTABLE, desc = "The first takes its site.")
    @Outcome(id = "contended, pending, trap tail3 front3", expect = ACCEPTABLE, desc = "The second takes its site.")
    @Outcome(id = "contended, contended, ", expect = ACCEPTABLE, desc = "Each sees the other one trying.")
    @Outcome(expect = FORBIDDEN, desc = "Both patch, or stores are lost, repeated or mixed.")
    @State
    public static class New {
        private final PatchedCode code = new PatchedCode();
        private StartResult first = new PatchResult.Contended();
        private StartResult second = first;

        @Actor
        public void first(LLL_Result r) {
            first = code.patcher().start(code.straddler(code.patcher()), PatchedCode.TWO);
            r.r1 = PatchedCode.name(first);
        }

        @Actor
        public void second(LLL_Result r) {
            second = code.patcher().start(code.longer(code.patcher()), PatchedCode.LONG_THREE);
            r.r2 = PatchedCode.name(second);
        }

        @Arbiter
        public void finish(LLL_Result r) {
            PatchedCode.finish(first);
            PatchedCode.finish(second);
            r.r3 = code.steps();
        }
    }

    /// A helper has seen a patch that gives way to one of an overlapping site.
    @JCStressTest
    @Outcome(id = "contended, none", expect = ACCEPTABLE, desc = "Nobody has seen it.")
    @Outcome(id = "contended, finished", expect = ACCEPTABLE, desc = "Who has seen it sees its end too.")
    @Outcome(expect = FORBIDDEN, desc = "Who waits for what he has seen waits for ever.")
    @State
    public static class GivingWay {
        private final PatchedCode code = new PatchedCode();
        private final PatchSite longer = code.longer(code.patcher());
        private final Pending patch =
                PatchedCode.started(code.patcher(), code.straddler(code.patcher()), PatchedCode.TWO);
        private @Nullable Pending seen;

        @Actor
        public void start(LL_Result r) {
            r.r1 = PatchedCode.name(code.patcher().start(longer, PatchedCode.LONG_THREE));
        }

        @Actor
        public void look() {
            seen = longer.pending();
        }

        @Arbiter
        public void finish(LL_Result r) {
            PatchedCode.finish(patch);
            r.r2 = seen == null ? "none" : seen.finish() ? "finished" : "abandoned";
        }
    }
}
