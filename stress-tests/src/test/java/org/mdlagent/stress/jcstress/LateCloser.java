package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IL_Result;

/// An application thread ends a probe's lease while the agent starts the next one: the new lease's entry must
/// not be switched off. Results: the number of sites that the agent switched on, the state, and the entry.
public class LateCloser {
    @JCStressTest
    @Outcome(id = "2, sampling on", expect = ACCEPTABLE, desc = "The new lease is open.")
    @Outcome(id = "0, expired off", expect = ACCEPTABLE, desc = "The agent leaves it to the thread, which closes.")
    @Outcome(id = "0, expired on", expect = ACCEPTABLE, desc = "Each leaves it to the other: the next call closes.")
    @Outcome(expect = FORBIDDEN, desc = "A lease is open and its entry off, or closed by one who was late.")
    @State
    public static class Counted {
        private final ProbeLease lease = new ProbeLease();

        @Actor
        public void agent(IL_Result r) {
            r.r1 = lease.arm();
        }

        @Actor
        public void thread() {
            lease.expire();
        }

        @Arbiter
        public void read(IL_Result r) {
            r.r2 = lease.outcome();
        }
    }

    /// Broken: the agent does not check for closers.
    @JCStressTest
    @Outcome(id = "2, sampling on", expect = ACCEPTABLE, desc = "The new lease is open.")
    @Outcome(expect = FORBIDDEN, desc = "A lease is open and its entry off, or closed by one who was late.")
    @State
    public static class BlindExhibit {
        private final ProbeLease lease = new ProbeLease();

        @Actor
        public void agent(IL_Result r) {
            r.r1 = lease.armBlindly();
        }

        @Actor
        public void thread() {
            lease.expire();
        }

        @Arbiter
        public void read(IL_Result r) {
            r.r2 = lease.outcome();
        }
    }
}
