package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.GREATER_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
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

/// The clock of recording code: the time-stamp counter or, if the session requires it, the thread's CPU time,
/// which needs a system call.
final class DurationClock {
    private static final int CLOCK_GETTIME = 228;
    private static final int CLOCK_THREAD_CPUTIME_ID = 3;
    private static final int NANOS_PER_SECOND = 1_000_000_000;

    /// Registers that the system call uses or changes.
    private static final List<Register> KEPT = List.of(RDI, RSI, RCX, R11);

    private static final int TIME_BYTES = 2 * Long.BYTES;

    /// Places in the red zone, from the stack pointer: when the way to a randomly timed call began, and when a call
    /// ended. Below what the fast paths save there.
    private static final int PREPARING_AT = -14 * Long.BYTES;

    private static final int ENDED_AT = -9 * Long.BYTES;

    private final Label exit = new Label();
    private final Label prepared = new Label();
    private final RecordingEntryPoints shim;
    private final Assembler out;

    DurationClock(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
    }

    /// Emits code that notes the start of a call. Changes RAX, RDX and the flags.
    ///
    /// The time of the thread's other calls is noted after reading the clock: time that an earlier handler adds
    /// must not be subtracted from a duration that does not contain it.
    ///
    /// @param base   the words of the call ([CallDescriptor]) are `callAt` from there
    /// @param below  end of 48 scratch bytes in the red zone, from the stack pointer
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
            noteTaken(base, before, thread);
        }
    }

    private void noteTaken(Register base, int before, Register thread) {
        out.load(RAX, thread, (int) ThreadDescriptor.TAKEN);
        out.store(base, before, RAX);
    }

    /// Emits code for the beginning of the way to a randomly timed call. What the probe takes from here on is not
    /// part of the durations of the calls around it: it is many times that of a short function. Changes `scratch`
    /// and RDX.
    void beginPreparing(Register scratch) {
        if (!shim.cpuTime()) {
            out.mov(scratch, RAX);
            out.readTsc();
            out.store(RSP, PREPARING_AT, RAX);
            out.mov(RAX, scratch);
        }
    }

    /// [#start] after [#beginPreparing] and [#prepare].
    void startPrepared(Register base, int callAt, Register thread, int below) {
        if (shim.cpuTime()) {
            start(base, callAt, thread, below);
            return;
        }
        read(below);
        out.store(base, callAt + (int) CallDescriptor.START, RAX);
        out.sub(RAX, RSP, PREPARING_AT);
        out.addTo(thread, (int) ThreadDescriptor.TAKEN, RAX);
        noteTaken(base, callAt + (int) CallDescriptor.BEFORE, thread);
    }

    /// Emits code before [#startPrepared]. It keeps costs that untimed calls do not have out of
    /// the duration: loads that miss the cache or were written by the agent, which the processor could delay
    /// beyond its clock reading, and fetching the exit's code.
    void prepare() {
        out.jump(exit);
        out.bind(prepared);
        out.waitForLoads();
    }

    /// Emits the part right before the exit's code, for [#prepare].
    void beforeExit() {
        out.bind(exit);
        out.jump(prepared);
    }

    /// Emits code that computes a call's duration into RAX. Changes RDX and the flags.
    ///
    /// @param startAt offset of its start from `base`
    /// @param below   as for [#start]
    void elapsed(Register base, int startAt, int below) {
        read(below);
        out.sub(RAX, base, startAt);
        // Another processor's counter may be behind, and a thread's CPU time restarts at a fork.
        atLeastNothing(RAX);
    }

    /// [#elapsed] in sampled mode, minus what recording nested calls took. Also changes `scratch`.
    ///
    /// That time is loaded before the clock is read, because a handler that runs afterwards adds time that this
    /// duration does not contain.
    void elapsedWithoutShim(Register base, int callAt, Register thread, int below, Register scratch) {
        int startAt = callAt + (int) CallDescriptor.START;
        if (shim.cpuTime()) {
            elapsed(base, startAt, below);
            return;
        }
        out.load(scratch, thread, (int) ThreadDescriptor.TAKEN);
        out.sub(scratch, base, callAt + (int) CallDescriptor.BEFORE);
        out.readTsc();
        out.store(RSP, ENDED_AT, RAX);
        out.sub(RAX, base, startAt);
        atLeastNothing(RAX);
        out.sub(RAX, scratch);
        atLeastNothing(RAX);
    }

    /// Emits code that tells the shim when a measured call ended, in [CallDescriptor#BEFORE]. Changes RDX.
    void tellEnd(Register base, int callAt) {
        if (!shim.cpuTime()) {
            out.load(RDX, RSP, ENDED_AT);
            out.store(base, callAt + (int) CallDescriptor.BEFORE, RDX);
        }
    }

    /// Emits code that subtracts the clock's overhead from the duration in RAX. Changes the flags.
    ///
    /// The caller's self time must lose the overhead too, so this comes after RAX has been added to the time of
    /// callees.
    void takeOffReading() {
        out.sub(RAX, shim.clock());
        atLeastNothing(RAX);
    }

    /// Emits, right after a subtraction, code that clamps a negative difference to 0, because durations are
    /// unsigned. Changes the flags.
    void atLeastNothing(Register difference) {
        Label left = new Label();
        out.jump(GREATER_OR_EQUAL, left);
        out.movInt(difference, 0);
        out.bind(left);
    }

    /// Emits a jump taken once system calls are forbidden: the agent has left, and a sandbox may kill the process
    /// for one.
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

    /// Emits code that reads the calling thread's CPU time into RAX, in nanoseconds. Changes RCX, RSI, RDI, R11
    /// and the flags. The kernel preserves memory below the stack pointer and the vector registers.
    ///
    /// @param time 16 bytes in the red zone for the kernel's result
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
