package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.mdlagent.wordpatch.Pending;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/// Two threads finish a patch that its starter has left: each store must be made once, the tail before the front.
public class TwoFinishersOfOnePatch {
    @JCStressTest
    @Outcome(id = "true, true, trap tail2 front2", expect = ACCEPTABLE, desc = "Both see it finished.")
    @Outcome(id = "true, false, trap tail2 front2", expect = ACCEPTABLE, desc = "The second met a step under way.")
    @Outcome(id = "false, true, trap tail2 front2", expect = ACCEPTABLE, desc = "The first met a step under way.")
    @Outcome(expect = FORBIDDEN, desc = "A store is lost, repeated or out of order, or both gave up.")
    @State
    public static class Held {
        private final PatchedCode code = new PatchedCode();
        private final Pending patch =
                PatchedCode.started(code.patcher(), code.straddler(code.patcher()), PatchedCode.TWO);

        @Actor
        public void first(ZZL_Result r) {
            r.r1 = patch.finish();
        }

        @Actor
        public void second(ZZL_Result r) {
            r.r2 = patch.finish();
        }

        @Arbiter
        public void steps(ZZL_Result r) {
            r.r3 = code.steps();
        }
    }

    /// Broken: finishers read the state and do the next step without claiming the patch.
    @JCStressTest
    @Outcome(id = "true, true, trap tail2 front2", expect = ACCEPTABLE, desc = "Both see it finished.")
    @Outcome(expect = FORBIDDEN, desc = "A store is lost, repeated or out of order.")
    @State
    public static class UnheldExhibit {
        private final PatchedCode code = new PatchedCode();
        private volatile int stepsTaken;

        public UnheldExhibit() {
            code.storeTrap();
        }

        @Actor
        public void first(ZZL_Result r) {
            r.r1 = finish();
        }

        @Actor
        public void second(ZZL_Result r) {
            r.r2 = finish();
        }

        @Arbiter
        public void steps(ZZL_Result r) {
            r.r3 = code.steps();
        }

        private boolean finish() {
            if (stepsTaken == 0) {
                code.storeTailOfTwo();
                stepsTaken = 1;
            }
            if (stepsTaken == 1) {
                code.storeFrontOfTwo();
                stepsTaken = 2;
            }
            return true;
        }
    }
}
