package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.LESS;
import static org.mdlagent.arch.x86.bytes.Condition.LESS_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.NOT_EQUAL;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.RecordingTicks;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Register;

/// A thread's measuring budget, enforced by generated code: a function that becomes hot is stopped before the
/// agent's next poll.
///
/// Each tick of measuring uses up a number of ticks of the thread's time: 100 at a budget of 1 %. A thread pays
/// for several calls of a function at once, afterwards, and its credit is capped at [#SAVED] (the generic cell
/// rate algorithm, ITU-T I.371):
///
/// ```
///   saved = min(now - thread.paid, SAVED)
///   saved < price: the function's probes go off now
///   else:          thread.paid = now - (saved - price)
/// ```
///
/// So functions that a thread calls less often never stop. If a thread paid in advance, a new thread would exhaust
/// its credit after some 700 functions, and stop all others at their first call, for all threads and processes.
///
/// Threads do not wait for each other. A handler also pays, but the interrupted code overwrites its payment: some
/// calls stay unpaid.
final class SpendingLimit {
    /// Maximum credit in ticks: 0.1 s at 2.7 GHz, which is 1 ms of measuring at a budget of 1 %.
    private static final int SAVED = 1 << 28;

    /// A deadline within 2^31 ticks is that of a slice, whose price is in the agent's plan.
    private static final int LEASE_BITS = 31;

    private static final int PRICE_BITS = 8;

    private final RecordingEntryPoints shim;
    private final Assembler out;

    SpendingLimit(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
    }

    /// Costs of calls.
    interface Price {
        /// Emits code that multiplies `price`, of one tick, by the ticks that calls of a function have cost.
        /// Changes `scratch`.
        void multiply(Register price, Register function, Register scratch);
    }

    /// The price of the timed calls between two checks of the clock.
    void exact(Register price, Register function, Register scratch) {
        int ticks = RecordingTicks.EXACT + (shim.cpuTime() ? RecordingTicks.CPU_TIME : 0);
        out.multiplyBy(price, price, RecordingAssembler.DEADLINE_CHECK_CALLS * ticks);
    }

    /// The same for counted calls.
    void open(Register price, Register function, Register scratch) {
        out.multiplyBy(price, price, RecordingAssembler.DEADLINE_CHECK_CALLS * RecordingTicks.COUNTED);
    }

    /// The price of the calls since the previous randomly timed call.
    void byChance(Register price, Register function, Register scratch) {
        out.loadInt(scratch, function, (int) FunctionDescriptor.MEAN);
        out.multiplyBy(scratch, scratch, RecordingTicks.COUNTED);
        out.add(scratch, RecordingTicks.BY_CHANCE + (shim.cpuTime() ? RecordingTicks.CPU_TIME : 0));
        out.multiply(price, scratch);
    }

    /// Emits code that pays for calls, or else stops their function and jumps to `over`. Changes `price`,
    /// `saved` and the flags.
    void pay(
            Price ofCalls,
            Register now,
            Register function,
            Register thread,
            Register price,
            Register saved,
            Label over) {
        Label within = new Label();
        Label notMore = new Label();
        Label spent = new Label();
        out.testByte(function, (int) FunctionDescriptor.FLAGS, FunctionDescriptor.FLAG_NAMED);
        out.jump(NOT_EQUAL, within);
        out.load(saved, function, (int) FunctionDescriptor.DEADLINE);
        out.sub(saved, now);
        out.shiftRight(saved, LEASE_BITS);
        out.test(saved);
        out.jump(EQUAL, within);
        out.mov(price, shim.agentState() - HeaderDescriptor.STATE + HeaderDescriptor.TICK_PRICE);
        out.load(price, price, 0);
        out.test(price);
        out.jump(EQUAL, within);
        ofCalls.multiply(price, function, saved);
        out.shiftRight(price, PRICE_BITS);
        out.mov(saved, now);
        out.sub(saved, thread, (int) ThreadDescriptor.PAID);
        out.cmp(saved, SAVED);
        out.jump(LESS_OR_EQUAL, notMore);
        out.movInt(saved, SAVED);
        out.bind(notMore);
        out.sub(saved, price);
        out.jump(LESS, spent);
        out.mov(price, now);
        out.sub(price, saved);
        out.store(thread, (int) ThreadDescriptor.PAID, price);
        out.jump(within);
        out.bind(spent);
        out.store(function, (int) FunctionDescriptor.DEADLINE, now);
        out.jump(over);
        out.bind(within);
    }
}
