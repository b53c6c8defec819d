package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.WordPatch;
import org.mdlagent.wordpatch.WordPatch.StartResult;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/// Two patchers start on one site: exactly one must win, and only its stores are made.
public class TwoPatchersOfOneSite {
    @JCStressTest
    @Outcome(id = "pending, contended, trap tail2 front2", expect = ACCEPTABLE, desc = "The first takes the site.")
    @Outcome(id = "contended, pending, trap tail3 front3", expect = ACCEPTABLE, desc = "The second takes it.")
    @Outcome(expect = FORBIDDEN, desc = "Both take it, or none, or stores are lost, repeated or mixed.")
    @State
    public static class OneWordPatch {
        private final PatchedCode code = new PatchedCode();
        private final PatchSite site = code.straddler(code.patcher());
        private StartResult first = new PatchResult.Contended();
        private StartResult second = first;

        @Actor
        public void first(LLL_Result r) {
            first = code.patcher().start(site, PatchedCode.TWO);
            r.r1 = PatchedCode.name(first);
        }

        @Actor
        public void second(LLL_Result r) {
            second = code.patcher().start(site, PatchedCode.THREE);
            r.r2 = PatchedCode.name(second);
        }

        @Arbiter
        public void finish(LLL_Result r) {
            PatchedCode.finish(first);
            PatchedCode.finish(second);
            r.r3 = code.steps();
        }
    }

    /// One of them patches many sites at once, without helpers.
    @JCStressTest
    @Outcome(id = "patched, contended, trap tail2 front2", expect = ACCEPTABLE, desc = "The batch takes the site.")
    @Outcome(id = "contended, pending, trap tail3 front3", expect = ACCEPTABLE, desc = "The second takes it.")
    @Outcome(
            id = "patched, pending, trap tail2 front2 trap tail3 front3",
            expect = ACCEPTABLE,
            desc = "The batch was over when the second began.")
    @Outcome(expect = FORBIDDEN, desc = "Both take it, or none, or stores are lost, repeated or mixed.")
    @State
    public static class Batch {
        private final PatchedCode code = new PatchedCode();
        private final PatchSite site = code.straddler(code.patcher());
        private StartResult second = new PatchResult.Contended();

        @Actor
        public void first(LLL_Result r) {
            List<PatchResult> results = code.patcher().patchAll(List.of(site), new long[] {PatchedCode.TWO});
            r.r1 = PatchedCode.name(results.getFirst());
        }

        @Actor
        public void second(LLL_Result r) {
            second = code.patcher().start(site, PatchedCode.THREE);
            r.r2 = PatchedCode.name(second);
        }

        @Arbiter
        public void finish(LLL_Result r) {
            PatchedCode.finish(second);
            r.r3 = code.steps();
        }
    }

    /// Broken: each patcher has its own [WordPatch], so they do not exclude each other.
    @JCStressTest
    @Outcome(id = "pending, contended, trap tail2 front2", expect = ACCEPTABLE, desc = "The first takes the site.")
    @Outcome(id = "contended, pending, trap tail3 front3", expect = ACCEPTABLE, desc = "The second takes it.")
    @Outcome(expect = FORBIDDEN, desc = "Both take it, or none, or stores are lost, repeated or mixed.")
    @State
    public static class StrangersExhibit {
        private final PatchedCode code = new PatchedCode();
        private final WordPatch stranger = code.patcher(code);
        private final PatchSite site = code.straddler(code.patcher());
        private final PatchSite strangersSite = code.straddler(stranger);
        private StartResult first = new PatchResult.Contended();
        private StartResult second = first;

        @Actor
        public void first(LLL_Result r) {
            first = code.patcher().start(site, PatchedCode.TWO);
            r.r1 = PatchedCode.name(first);
        }

        @Actor
        public void second(LLL_Result r) {
            second = stranger.start(strangersSite, PatchedCode.THREE);
            r.r2 = PatchedCode.name(second);
        }

        @Arbiter
        public void finish(LLL_Result r) {
            PatchedCode.finish(first);
            PatchedCode.finish(second);
            r.r3 = code.steps();
        }
    }
}
