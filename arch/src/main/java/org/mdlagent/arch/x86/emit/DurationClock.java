package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.GREATER_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RSI;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.List;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Register;

/// By what recording code measures how long calls last: the time-stamp counter or, where the session wants it, the
/// CPU time of the thread. No register tells the latter, so the kernel is asked.
final class DurationClock {
    private static final int CLOCK_GETTIME = 228;
    private static final int CLOCK_THREAD_CPUTIME_ID = 3;
    private static final int NANOS_PER_SECOND = 1_000_000_000;

    /// What the kernel changes, or is told by.
    private static final List<Register> KEPT = List.of(RDI, RSI, RCX, R11);

    private static final int TIME_BYTES = 2 * Long.BYTES;

    private final Label exit = new Label();
    private final Label prepared = new Label();
    private final RecordingEntryPoints shim;
    private final Assembler out;

    DurationClock(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
    }

    /// Emits what notes that a call begins now. Changes RAX, RDX and the flags.
    ///
    /// What other calls of the thread have taken so far is noted behind the reading of the clock: what a handler
    /// adds
    /// that runs before it must not be taken off a time that does not contain it.
    ///
    /// @param base   the words of the call ([CallDescriptor]) are `callAt` from there
    /// @param below  where it may write in the red zone, from the stack pointer: 48 bytes end there
    void start(Register base, int callAt, Register thread, int below) {
        boolean sampledByCpuTime = shim.cpuTime() && !shim.exact();
        int before = callAt + (int) CallDescriptor.BEFORE;
        if (sampledByCpuTime) {
            out.readTsc();
            out.store(base, before, RAX);
        }
        read(below);
        out.store(base, callAt + (int) CallDescriptor.START, RAX);
        if (!sampledByCpuTime) {
            out.load(RAX, thread, (int) ThreadDescriptor.TAKEN);
            out.store(base, before, RAX);
        }
    }

    /// Emits what comes before [#start] where one call in many is timed. So the call is not charged with what no call
    /// that is not timed waits for: loads of what is in no cache or was written by the agent, before which the
    /// processor would read its clock; and the code of the exit, which is fetched here.
    void prepare() {
        out.jump(exit);
        out.bind(prepared);
        out.waitForLoads();
    }

    /// Emits what lies right before the code of the exit, for [#prepare].
    void beforeExit() {
        out.bind(exit);
        out.jump(prepared);
    }

    /// Emits what computes into RAX how long a call has lasted. Changes RDX and the flags.
    ///
    /// @param startAt where its start is, from `base`
    /// @param below   as for [#start]
    void elapsed(Register base, int startAt, int below) {
        read(below);
        out.sub(RAX, base, startAt);
        // The counter of another processor may be behind, and a thread's CPU time begins anew at a fork.
        atLeastNothing(RAX);
    }

    /// The same in sampled mode, without what code of the shim took meanwhile for calls within this one that are told
    /// to it: many times what a short function takes. Changes `scratch`, too.
    ///
    /// Loaded before the clock is read: a handler that runs behind its reading adds what this call's time does not
    /// contain.
    void elapsedWithoutShim(Register base, int callAt, Register thread, int below, Register scratch) {
        int startAt = callAt + (int) CallDescriptor.START;
        if (shim.exact() || shim.cpuTime()) {
            elapsed(base, startAt, below);
            return;
        }
        out.load(scratch, thread, (int) ThreadDescriptor.TAKEN);
        out.sub(scratch, base, callAt + (int) CallDescriptor.BEFORE);
        elapsed(base, startAt, below);
        out.sub(RAX, scratch);
        atLeastNothing(RAX);
    }

    /// Emits what takes off RAX, how long a call has lasted, what the clock has added to it. Changes the flags.
    ///
    /// The caller's time without its callees loses that, too, so this comes behind what adds RAX to what is taken.
    void takeOffReading() {
        out.sub(RAX, shim.clock());
        atLeastNothing(RAX);
    }

    /// Emits, right behind a subtraction, what sets a difference below 0 to 0: durations are unsigned. Changes the
    /// flags.
    void atLeastNothing(Register difference) {
        Label left = new Label();
        out.jump(GREATER_OR_EQUAL, left);
        out.movInt(difference, 0);
        out.bind(left);
    }

    /// Emits what leads elsewhere when the kernel must not be asked any more: the agent has left, and a sandbox
    /// may end the process for a system call.
    ///
    /// @param scratch is changed
    void requireAgent(Register scratch, Label gone) {
        if (shim.cpuTime()) {
            out.mov(scratch, shim.agentState());
            out.cmpInt(scratch, 0, HeaderDescriptor.STATE_AGENT_DEAD);
            out.jump(EQUAL, gone);
        }
    }

    private void read(int below) {
        if (!shim.cpuTime()) {
            out.readTsc();
            return;
        }
        int at = below;
        for (Register register : KEPT) {
            at -= Long.BYTES;
            out.store(RSP, at, register);
        }
        readThreadCpu(out, at - TIME_BYTES);
        for (Register register : KEPT.reversed()) {
            out.load(register, RSP, at);
            at += Long.BYTES;
        }
    }

    /// Emits what reads the calling thread's CPU time into RAX, in nanoseconds. Changes RCX, RSI, RDI, R11 and
    /// the flags. The kernel keeps what lies below the stack pointer, and changes no vector registers that
    /// programs see.
    ///
    /// @param time where the kernel may write it, in the red zone: 16 bytes
    static void readThreadCpu(Assembler out, int time) {
        out.movInt(RDI, CLOCK_THREAD_CPUTIME_ID);
        out.lea(RSI, RSP, time);
        out.movInt(RAX, CLOCK_GETTIME);
        out.systemCall();
        out.movInt(RAX, NANOS_PER_SECOND);
        out.multiply(RAX, RSP, time);
        out.add(RAX, RSP, time + Long.BYTES);
    }
}
