package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/// A row is made, for which the index grows, and published; then its trapping byte is stored. Results: where a
/// thread continues that may meet this byte, and where one continues that meets the byte of an old row.
public class TrapPublication {
    @JCStressTest
    @Outcome(id = "not met, jump", expect = ACCEPTABLE, desc = "The thread came before the byte.")
    @Outcome(id = "jump, jump", expect = ACCEPTABLE, desc = "It met the byte, and was redirected.")
    @Outcome(expect = FORBIDDEN, desc = "A thread met a byte of ours and was not redirected.")
    @State
    public static class RowFirst {
        private final TrapRows rows = new TrapRows();

        public RowFirst() {
            rows.table().publish(rows.row(), TrapRows.JUMP);
        }

        @Actor
        public void patcher() {
            rows.table().publish(rows.newRow(), TrapRows.JUMP);
            rows.trappingByte(1);
        }

        @Actor
        public void executor(LL_Result r) {
            r.r1 = rows.trappingByte() == 0 ? "not met" : rows.meetNew();
            r.r2 = rows.meet();
        }
    }

    /// Broken: stores the byte before its row is published.
    @JCStressTest
    @Outcome(id = "not met, jump", expect = ACCEPTABLE, desc = "The thread came before the byte.")
    @Outcome(id = "jump, jump", expect = ACCEPTABLE, desc = "It met the byte, and was redirected.")
    @Outcome(expect = FORBIDDEN, desc = "A thread met a byte of ours and was not redirected.")
    @State
    public static class ByteFirstExhibit {
        private final TrapRows rows = new TrapRows();

        public ByteFirstExhibit() {
            rows.table().publish(rows.row(), TrapRows.JUMP);
        }

        @Actor
        public void patcher() {
            rows.trappingByte(1);
            rows.table().publish(rows.newRow(), TrapRows.JUMP);
        }

        @Actor
        public void executor(LL_Result r) {
            r.r1 = rows.trappingByte() == 0 ? "not met" : rows.meetNew();
            r.r2 = rows.meet();
        }
    }
}
