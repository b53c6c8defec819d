package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.mdlagent.profiler.records.ThreadRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/// A thread times more calls than its ring can hold, while the agent drains it. Results: the number of records
/// drained meanwhile, and the outcome of all calls.
public class RingDrainAndWriter {
    private static final int CALLS = ThreadRing.RECORDS + 8;

    @JCStressTest
    @Outcome(id = "none, whole", expect = ACCEPTABLE, desc = "The drain came first.")
    @Outcome(id = "part, whole", expect = ACCEPTABLE, desc = "The drain came in between.")
    @Outcome(id = "full, whole", expect = ACCEPTABLE, desc = "The drain found the ring full.")
    @Outcome(expect = FORBIDDEN, desc = "A call is lost, repeated, torn, or dropped without being counted.")
    @State
    public static class CompletedLast {
        private final ThreadRing ring = new ThreadRing();

        @Actor
        public void write() {
            for (int i = 0; i < CALLS; i++) {
                ring.write(i + 1);
            }
        }

        @Actor
        public void drain(LL_Result r) {
            int moved = ring.drain();
            r.r1 = moved == 0 ? "none" : moved < ThreadRing.RECORDS ? "part" : "full";
        }

        @Arbiter
        public void read(LL_Result r) {
            int unused = ring.drain();
            r.r2 = ring.fate(CALLS);
        }
    }

    /// Broken: marks records complete too early.
    @JCStressTest
    @Outcome(id = "none, whole", expect = ACCEPTABLE, desc = "The drain came first.")
    @Outcome(id = "part, whole", expect = ACCEPTABLE, desc = "The drain came in between.")
    @Outcome(id = "full, whole", expect = ACCEPTABLE, desc = "The drain found the ring full.")
    @Outcome(expect = FORBIDDEN, desc = "A call is lost, repeated, torn, or dropped without being counted.")
    @State
    public static class CompletedFirstExhibit {
        private final ThreadRing ring = new ThreadRing();

        @Actor
        public void write() {
            for (int i = 0; i < CALLS; i++) {
                ring.writeCompletedFirst(i + 1);
            }
        }

        @Actor
        public void drain(LL_Result r) {
            int moved = ring.drain();
            r.r1 = moved == 0 ? "none" : moved < ThreadRing.RECORDS ? "part" : "full";
        }

        @Arbiter
        public void read(LL_Result r) {
            int unused = ring.drain();
            r.r2 = ring.fate(CALLS);
        }
    }
}
