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

/// What measuring may cost a thread, kept by machine code: a function that becomes hot is stopped before the agent
/// comes to look at it.
///
/// Each tick of measuring takes up some ticks of the thread's time: 100 at a budget of 1 %. A thread pays for some of a
/// function's calls at once, when it has made them, and saves no more than [#SAVED] (the generic cell rate algorithm,
/// ITU-T I.371):
///
/// ```
///   saved = min(now - thread.paid, SAVED)
///   saved < price: the function's windows are over from now on
///   else:          thread.paid = now - (saved - price)
/// ```
///
/// So what a thread calls less often is never stopped by it. Did it pay before the first of those calls, a thread that
/// has just begun had spent everything after some seven hundred functions, and stopped all others at their first call,
/// for all threads and processes.
///
/// Threads do not wait for each other. A handler that comes in between pays, too, and the code that it has
/// interrupted overwrites that: it has paid for some calls less.
final class SpendingLimit {
    /// Time that a thread saves at most, in ticks: 0.1 s at 2.7 GHz, so 1 ms at a budget of 1 %.
    private static final int SAVED = 1 << 28;

    /// A window that ends so soon, in 2^31 ticks, is one of those that the agent opens and closes: it has a price.
    private static final int LEASE_BITS = 31;

    private static final int PRICE_BITS = 8;

    private final RecordingEntryPoints shim;
    private final Assembler out;

    SpendingLimit(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
    }

    /// What calls cost.
    interface Price {
        /// Emits what multiplies `price`, of one tick, by the ticks that calls of a function have cost. Changes
        /// `scratch`.
        void multiply(Register price, Register function, Register scratch);
    }

    /// The price of as many calls as there are between two looks at the clock, which have all been timed.
    void exact(Register price, Register function, Register scratch) {
        int ticks = RecordingTicks.EXACT + (shim.cpuTime() ? RecordingTicks.CPU_TIME : 0);
        out.multiplyBy(price, price, RecordingAssembler.DEADLINE_CHECK_CALLS * ticks);
    }

    /// The same of calls that have been counted.
    void open(Register price, Register function, Register scratch) {
        out.multiplyBy(price, price, RecordingAssembler.DEADLINE_CHECK_CALLS * RecordingTicks.COUNTED);
    }

    /// The price of the calls from the one before that was timed by chance to this one.
    void byChance(Register price, Register function, Register scratch) {
        out.loadInt(scratch, function, (int) FunctionDescriptor.MEAN);
        out.multiplyBy(scratch, scratch, RecordingTicks.COUNTED);
        out.add(scratch, RecordingTicks.BY_CHANCE + (shim.cpuTime() ? RecordingTicks.CPU_TIME : 0));
        out.multiply(price, scratch);
    }

    /// Emits what pays for calls, or ends the windows of their function and goes on at `over`. Changes `price`,
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
