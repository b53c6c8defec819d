package org.mdlagent.stress.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IL_Result;

/// A trapping byte is removed and its row withdrawn; then the same address traps again with another action.
/// Results: which byte a thread met, 0 for none, and where it continued.
@JCStressTest
@Outcome(id = "0, not met", expect = ACCEPTABLE, desc = "The thread came between the two.")
@Outcome(id = "1, jump", expect = ACCEPTABLE, desc = "It was redirected as the first patch said.")
@Outcome(id = "1, again", expect = ACCEPTABLE, desc = "It was late: the byte has gone, so it tries again.")
@Outcome(
        id = "1, call",
        expect = ACCEPTABLE,
        desc = "It was later still: the instruction is the second patch's old one.")
@Outcome(id = "2, call", expect = ACCEPTABLE, desc = "It was redirected as the second patch said.")
@Outcome(expect = FORBIDDEN, desc = "An action of the first patch after the second byte, or half of one.")
@State
public class TrapWithdrawal {
    private final TrapRows rows = new TrapRows();

    public TrapWithdrawal() {
        rows.table().publish(rows.row(), TrapRows.JUMP);
        rows.trappingByte(1);
    }

    @Actor
    public void patcher() {
        rows.trappingByte(0);
        rows.table().withdraw(rows.row());
        rows.table().publish(rows.row(), TrapRows.CALL);
        rows.trappingByte(2);
    }

    @Actor
    public void executor(IL_Result r) {
        r.r1 = rows.trappingByte();
        r.r2 = r.r1 == 0 ? "not met" : rows.meet();
    }
}
