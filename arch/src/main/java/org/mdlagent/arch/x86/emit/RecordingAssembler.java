package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.ABOVE;
import static org.mdlagent.arch.x86.bytes.Condition.ABOVE_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.BELOW;
import static org.mdlagent.arch.x86.bytes.Condition.BELOW_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.GREATER;
import static org.mdlagent.arch.x86.bytes.Condition.LESS;
import static org.mdlagent.arch.x86.bytes.Condition.LESS_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.NOT_EQUAL;
import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.R8;
import static org.mdlagent.arch.x86.bytes.Register.R9;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSI;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.layout.CallerDescriptor;
import org.mdlagent.arch.layout.CountdownDescriptor;
import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.RecordingCode.ClientBodies;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// The fast paths of recording, for sites that are calls of instrumentation hooks: there every caller-saved register
/// and the flags are free.
///
/// On entry of each body: RAX key of the frame, R10 site record, RDI function address (the hook's first argument);
/// the stack is aligned as at the start of a function; at an exit, RSI return address of the call (the hook's second
/// argument). Within: R11 thread block, R9 function record, RCX frame.
///
/// Assumes
///   A1 only the thread itself writes its stack pointer, frames, rows and ring head; a signal handler on the same
///      thread may run the same code between any two instructions, and has ended when the interrupted code
///      continues (or never ends, after `siglongjmp`)
///
/// Guarantees
///   G1 push reserves its frame (stores the stack pointer) before it fills it; a frame is valid once its key, the
///      last field, is stored
///   G2 pop clears the key and reads all it needs before it releases the frame
///
/// Progress
///   P1 no lock, no system call, no loop except the retry of a compare-exchange that a handler on the same thread
///      overtook
///
/// In sampled mode the function's mean decides at entry which calls are timed (`tier.h`), and the frame's weight
/// says at exit how many calls the duration represents. So the mean may change in between.
///
/// Rare cases continue in the shim (`entry_slow`, ... in `mdl/api.h`), always before the fast path has changed
/// anything.
public final class RecordingAssembler {
    private static final int FRAME = (int) FrameDescriptor.SIZE;

    private static final int CALL = (int) FrameDescriptor.CALL;
    private static final int INSIDE = CALL + (int) CallDescriptor.INSIDE;
    private static final int BEFORE = CALL + (int) CallDescriptor.BEFORE;
    private static final int START = CALL + (int) CallDescriptor.START;

    private static final int THREAD_SP = (int) ThreadDescriptor.SP;
    private static final int STATE = (int) FunctionDescriptor.STATE;
    private static final int OPEN = (int) FunctionDescriptor.OPEN;
    private static final int INDEX = (int) FunctionDescriptor.INDEX;
    private static final int MEAN = (int) FunctionDescriptor.MEAN;

    /// With a mean above 1: the weight of a timed call.
    private static final int WEIGHT = (int) FunctionDescriptor.WEIGHT;

    /// Fraction bits of [ThreadDescriptor#CHANCE].
    private static final int CHANCE_BITS = 16;

    /// A thread checks the clock once per this many calls of a function: a power of two, at most 256.
    static final int DEADLINE_CHECK_CALLS = 64;

    private final RecordingEntryPoints shim;
    private final Assembler out;
    private final WholeCallAssembler whole;
    private final ClientAssembler client;
    private final DurationClock clock;
    private final SpendingLimit limit;
    private final long at;

    public RecordingAssembler(RecordingEntryPoints shim, long at) {
        this.shim = shim;
        this.at = at;
        out = new Assembler(at);
        whole = new WholeCallAssembler(shim, out);
        client = new ClientAssembler(shim, out);
        clock = new DurationClock(shim, out);
        limit = new SpendingLimit(shim, out);
    }

    /// Unwind rules of the emitted code.
    public List<UnwindRow> unwind() {
        return Stream.concat(whole.unwind().stream(), client.unwind().stream()).toList();
    }

    public RecordingCode assemble() {
        int entry = out.offset();
        if (shim.exact()) {
            exactEntry();
        } else {
            sampledEntry();
        }
        out.align(64);
        if (!shim.exact()) {
            clock.beforeExit();
        }
        int exit = out.offset();
        if (shim.exact()) {
            exactExit();
        } else {
            sampledExit();
        }
        out.align(64);
        int functionEntry = whole.entry();
        out.align(64);
        int untimedEntry = whole.untimedEntry();
        out.align(64);
        int functionExit = whole.exit();
        out.align(64);
        int siblingExit = whole.siblingExit();
        out.align(64);
        int untimedExit = whole.untimedExit();
        out.align(64);
        int count = whole.count();
        out.align(64);
        int countAlone = whole.countAlone();
        whole.literals();
        out.align(64);
        Map<Body, ClientBodies> clients = Map.of(
                Body.ENTRY, client.hookEntry(at + entry),
                Body.EXIT, client.hookExit(at + exit),
                Body.FUNCTION_ENTRY, client.functionEntry(at + functionEntry, at + untimedEntry),
                Body.FUNCTION_EXIT, client.functionExit(at + functionExit, at + untimedExit),
                Body.COUNT, client.count(at + count));
        client.literals();
        return new RecordingCode(
                out.toBytes(), entry, exit, functionEntry, functionExit, siblingExit, count, countAlone, clients);
    }

    private void exactEntry() {
        Label slow = new Label();
        findThreadFunctionAndFrame(slow);
        out.mov(R8, RAX);
        out.loadInt(RSI, R9, INDEX);
        out.load(RDX, R11, (int) ThreadDescriptor.CALLS);
        // Counted at entry, because some calls never return.
        out.incrementIndexed(RDX, RSI);
        push();
        finishEntry();

        out.bind(slow);
        continueInShim(shim.entrySlow());
    }

    private void sampledEntry() {
        Label slow = new Label();
        Label everyCall = new Label();
        Label byChance = new Label();
        Label over = new Label();
        Label done = new Label();
        Label backOut = new Label();
        findThreadFunctionAndFrame(slow);
        out.mov(R8, RAX);
        out.loadInt(RSI, R9, INDEX);
        out.load(RDX, R11, (int) ThreadDescriptor.CALLS);
        out.cmpInt(R9, MEAN, 1);
        out.jump(EQUAL, everyCall);
        out.jump(ABOVE, byChance);
        checkDeadline(over, limit::open);
        out.load(RDX, R11, (int) ThreadDescriptor.CALLS);
        out.incrementIndexed(RDX, RSI);
        out.bind(done);
        out.ret();

        out.bind(everyCall);
        checkDeadline(over, limit::exact);
        out.load(RDX, R11, (int) ThreadDescriptor.CALLS);
        out.incrementIndexed(RDX, RSI);
        // If the function was stopped at another of its sites, its exits may be off.
        out.cmpInt(R9, STATE, FunctionDescriptor.STATE_SAMPLING);
        out.jump(NOT_EQUAL, done);
        push();
        finishEntry();

        out.bind(byChance);
        timeByChance(over, slow, backOut);

        out.bind(backOut);
        out.lockDecrementInt(R9, OPEN);
        out.ret();

        out.bind(over);
        out.mov(RDI, R10);
        out.mov(R11, shim.expireEntry());
        out.jump(R11);

        out.bind(slow);
        continueInShim(shim.entrySlow());
    }

    /// Jumps to `over` if the agent's heartbeat is stale, or the thread has exhausted its budget. Checked once in
    /// some calls, which are counted in RDX[RSI]. Changes RAX, RDX and RDI.
    private void checkDeadline(Label over, SpendingLimit.Price price) {
        Label inTime = new Label();
        out.testLowByteIndexed(RDX, RSI, DEADLINE_CHECK_CALLS - 1);
        out.jump(NOT_EQUAL, inTime);
        out.loadIndexed(RDI, RDX, RSI, 0);
        checkDeadlineAndPay(over, price);
        out.bind(inTime);
    }

    /// The same for a call that follows RDI calls to pay for: none before a thread's first.
    private void checkDeadlineAndPay(Label over, SpendingLimit.Price price) {
        Label paid = new Label();
        checkDeadlineAtOnce(over);
        out.test(RDI);
        out.jump(EQUAL, paid);
        pay(price, over);
        out.bind(paid);
    }

    private void checkDeadlineAtOnce(Label over) {
        out.readTsc();
        out.cmp(RAX, R9, (int) FunctionDescriptor.DEADLINE);
        out.jump(ABOVE, over);
    }

    private void pay(SpendingLimit.Price price, Label over) {
        limit.pay(price, RAX, R9, R11, RDI, RDX, over);
    }

    /// Counts the call in RDX[RSI]. It is timed if its countdown has run out (`tier.h`).
    private void timeByChance(Label over, Label slow, Label backOut) {
        Label timed = new Label();
        Label undrawn = new Label();
        out.load(RAX, R11, (int) ThreadDescriptor.COUNTDOWNS);
        out.cmpIntIndexed(RAX, RSI, (int) CountdownDescriptor.LEFT, 1);
        out.jump(LESS_OR_EQUAL, timed);
        out.incrementIndexed(RDX, RSI);
        out.decrementIntIndexed(RAX, RSI);
        out.ret();

        out.bind(timed);
        clock.beginPreparing(RDI);
        findWeight();
        out.test(RDI);
        out.jump(EQUAL, undrawn);
        checkDeadlineAtOnce(over);
        pay(limit::byChance, over);
        findWeight();
        out.load(RDX, R11, (int) ThreadDescriptor.CALLS);
        out.incrementIndexed(RDX, RSI);
        drawInterval(out, RAX, R9, RSI, R11);
        // As above: its probes, and so its exits, may be off.
        out.lockIncrementInt(R9, OPEN);
        out.cmpInt(R9, STATE, FunctionDescriptor.STATE_SAMPLING);
        out.jump(NOT_EQUAL, backOut);
        reserve();
        out.mov(RAX, CallDescriptor.WEIGHED);
        out.add(RAX, RDI);
        out.store(RCX, INSIDE, RAX);
        clock.prepare();
        fill(clock::startPrepared);
        out.ret();

        out.bind(undrawn);
        out.load(RDI, R9, (int) FunctionDescriptor.ADDRESS);
        out.mov(RAX, R8);
        out.jump(slow);
    }

    /// RAX: the function's countdown; RDI: the weight of its next timed call.
    private void findWeight() {
        out.load(RAX, R11, (int) ThreadDescriptor.COUNTDOWNS);
        out.leaIndexed(RAX, RAX, RSI);
        out.loadInt(RDI, RAX, (int) CountdownDescriptor.WEIGHT);
    }

    /// Emits code that restarts a function's countdown with the interval that the thread has drawn (`tier.c`).
    /// Changes `scratch` and the flags.
    static void drawInterval(Assembler out, Register countdown, Register function, Register scratch, Register thread) {
        out.loadInt(scratch, function, WEIGHT);
        out.storeInt(countdown, (int) CountdownDescriptor.WEIGHT, scratch);
        out.loadInt(scratch, function, MEAN);
        out.add(scratch, scratch);
        out.sub(scratch, 1);
        out.multiply(scratch, thread, (int) ThreadDescriptor.CHANCE);
        // If the mean has become 0 meanwhile, no interval is drawn.
        out.shiftRightSigned(scratch, CHANCE_BITS + 1);
        out.add(scratch, 1);
        out.storeInt(countdown, (int) CountdownDescriptor.LEFT, scratch);
    }

    private void exactExit() {
        Label other = new Label();
        Label slow = new Label();
        Label nothing = new Label();
        Label slowRecord = new Label();
        Label tooLong = new Label();
        findTopFrame(nothing, other, slow);
        clock.requireAgent(R8, slow);
        recordInRow(slowRecord, tooLong);
        out.bind(nothing);
        out.ret();

        recordInShim(slowRecord);

        keepSlow(tooLong, slow);
        out.bind(other);
        // The top frame belongs to a caller: this call has none.
        out.jump(BELOW, nothing);
        out.bind(slow);
        continueInShim(shim.exitSlow());
    }

    /// Loads into R10 where the call returns to; for an inlined function, the address of the site in R10.
    private void findPlace() {
        Label inlined = new Label();
        Label done = new Label();
        out.cmp(R9, R10, (int) SiteDescriptor.OWNER);
        out.jump(NOT_EQUAL, inlined);
        out.mov(R10, RSI);
        out.jump(done);
        out.bind(inlined);
        out.load(R10, R10, (int) SiteDescriptor.ADDRESS);
        out.bind(done);
    }

    /// Pops the frame before RCX, whose function is in R9, and records it in the function's row; the site is in R10.
    /// If the row has no memory yet, jumps to `slowRecord` with ticks in RAX, those of callees in R8, the call's
    /// `inside` in RDI, in exact mode the call's place in R10, and the function of the frame below in R11. Also
    /// changes RSI and R10.
    ///
    /// Before the frame is popped, jumps to `tooLong` if the call belongs into the ring of slow calls.
    ///
    /// If other functions are sampled, callees are incomplete.
    private void recordInRow(Label slowRecord, Label tooLong) {
        Label nested = new Label();
        Label nestedDone = new Label();
        Label noChunk = new Label();
        Label done = new Label();
        out.load(RDI, RCX, INSIDE - FRAME);
        if (shim.exact()) {
            // Before reading the clock: a later handler adds time that this duration does not contain.
            out.load(R8, R11, (int) ThreadDescriptor.TAKEN);
            out.sub(R8, RCX, BEFORE - FRAME);
            clock.elapsed(RCX, START - FRAME, 0);
        } else {
            clock.elapsedWithoutShim(RCX, CALL - FRAME, R11, 0, R8);
        }
        if (shim.keepsSlow()) {
            out.loadInt(RDX, R9, (int) FunctionDescriptor.SLOW);
            out.cmp(RAX, RDX);
            out.jump(ABOVE_OR_EQUAL, tooLong);
        }
        if (shim.exact()) {
            findPlace();
        }
        pop();
        if (shim.exact()) {
            out.mov(RSI, RAX);
            out.sub(RSI, R8);
            clock.atLeastNothing(RSI);
            out.addTo(R11, (int) ThreadDescriptor.TAKEN, RSI);
        }
        clock.takeOffReading();
        out.loadInt(RSI, R9, INDEX);
        out.load(RDX, R11, (int) ThreadDescriptor.ROWS);
        if (shim.exact()) {
            out.load(R11, RCX, (int) FrameDescriptor.FUNCTION - FRAME);
        }
        out.loadIndexed(RDX, RDX, RSI, 0);
        out.test(RDX);
        out.jump(EQUAL, slowRecord);
        if (shim.exact()) {
            CallerAssembler.find(out, RDX, R10, R11, RSI, RCX, slowRecord);
            out.mov(R10, RSI);
        }
        RowAssembler.count(out, RDX, RSI, !shim.exact(), shim.exact() ? noChunk : slowRecord);
        RowAssembler.loadInside(out, RCX, RDX);
        out.sub(RCX, RDI);
        out.jump(GREATER, nested);
        out.bind(nestedDone);
        out.addTo(RDX, (int) RowDescriptor.TOTAL, RAX);
        out.mov(RCX, RAX);
        if (shim.exact()) {
            // The subtracted overhead was measured at start; a reading may be shorter now.
            out.sub(RCX, R8);
            clock.atLeastNothing(RCX);
            out.addTo(RDX, (int) RowDescriptor.SELF, RCX);
            CallerAssembler.add(out, R10, RAX);
            out.mov(RCX, RAX);
        }
        replace(ABOVE_OR_EQUAL, (int) RowDescriptor.MIN);
        replace(BELOW_OR_EQUAL, (int) RowDescriptor.MAX);
        out.jump(done);
        out.bind(nested);
        RowAssembler.addNested(out, RDX, RAX, RCX, nestedDone);
        if (shim.exact()) {
            out.bind(noChunk);
            out.load(R10, R10, (int) CallerDescriptor.FROM);
            out.jump(slowRecord);
        }
        out.bind(done);
    }

    /// Calls that belong into the ring of slow calls are measured and recorded by the shim. Restores what
    /// [#recordInRow] has changed: the key in RAX and the function's address in RDI.
    private void keepSlow(Label tooLong, Label slow) {
        if (shim.keepsSlow()) {
            out.bind(tooLong);
            out.load(RAX, RCX, (int) FrameDescriptor.KEY - FRAME);
            out.load(RDI, R9, (int) FunctionDescriptor.ADDRESS);
            out.jump(slow);
        }
    }

    private void recordInShim(Label slowRecord) {
        out.bind(slowRecord);
        out.mov(RCX, RDI);
        out.mov(RDI, R9);
        out.mov(RSI, RAX);
        if (shim.exact()) {
            out.mov(RDX, RAX);
            out.sub(RDX, R8);
            clock.atLeastNothing(RDX);
            out.mov(R8, R10);
            out.mov(R9, R11);
        } else {
            out.movInt(RDX, 0);
        }
        out.mov(R11, shim.recordSlow());
        out.jump(R11);
    }

    private void sampledExit() {
        Label other = new Label();
        Label slow = new Label();
        Label measured = new Label();
        Label slowRecord = new Label();
        Label tooLong = new Label();
        Label finish = new Label();
        Label done = new Label();
        // The shim identifies a site's unknown function.
        out.load(R9, R10, (int) SiteDescriptor.FUNCTION);
        out.cmp(RDI, R9, (int) FunctionDescriptor.ADDRESS);
        out.jump(NOT_EQUAL, slow);
        findTopFrame(finish, other, slow);
        clock.requireAgent(R8, slow);
        // Calls with callers or weights are recorded by the shim.
        out.cmp(RCX, INSIDE - FRAME, 0);
        out.jump(LESS, measured);
        out.cmpInt(R9, (int) FunctionDescriptor.REMAINING, 0);
        out.jump(GREATER, measured);
        recordInRow(slowRecord, tooLong);

        out.bind(finish);
        // An exit left on after its function's entries went off and its last frame has gone switches itself off.
        out.load(R9, R10, (int) SiteDescriptor.FUNCTION);
        out.cmpInt(R9, STATE, FunctionDescriptor.STATE_EXPIRED);
        out.jump(NOT_EQUAL, done);
        out.cmpInt(R9, OPEN, 0);
        out.jump(NOT_EQUAL, done);
        out.mov(RDI, R10);
        out.mov(R11, shim.expireExit());
        out.jump(R11);
        out.bind(done);
        out.ret();

        recordInShim(slowRecord);

        keepSlow(tooLong, slow);
        out.bind(measured);
        // Before the shim's code, which may not be cached.
        out.mov(R8, RAX);
        clock.elapsedWithoutShim(RCX, CALL - FRAME, R11, 0, R9);
        clock.takeOffReading();
        if (shim.keepsSlow()) {
            // Before the shim gets the duration in place of the start.
            out.load(R9, RCX, (int) FrameDescriptor.FUNCTION - FRAME);
            out.loadInt(RDX, R9, (int) FunctionDescriptor.SLOW);
            out.cmp(RAX, RDX);
            out.jump(ABOVE_OR_EQUAL, tooLong);
        }
        out.store(RCX, START - FRAME, RAX);
        clock.tellEnd(RCX, CALL - FRAME);
        out.bitSet(RCX, INSIDE - FRAME, Long.numberOfTrailingZeros(CallDescriptor.MEASURED));
        out.mov(RAX, R8);
        out.jump(slow);

        out.bind(other);
        // The top frame belongs to a caller: this call has none.
        out.jump(BELOW, finish);
        out.bind(slow);
        continueInShim(shim.exitSlow());
    }

    /// R11 thread, R9 function, RCX next free frame. Jumps to `slow` without a block, for another function than
    /// the site's, or without room for a frame.
    private void findThreadFunctionAndFrame(Label slow) {
        out.loadThreadWord(R11, shim.tlsOffset());
        out.test(R11);
        out.jump(EQUAL, slow);
        out.load(R9, R10, (int) SiteDescriptor.FUNCTION);
        out.cmp(RDI, R9, (int) FunctionDescriptor.ADDRESS);
        out.jump(NOT_EQUAL, slow);
        out.load(RCX, R11, THREAD_SP);
        out.cmp(RCX, R11, (int) ThreadDescriptor.SP_LIMIT);
        out.jump(ABOVE_OR_EQUAL, slow);
    }

    /// R11 thread, RCX after the top frame, R9 its function. Jumps to `other` if its key differs (flags: our key
    /// compared with it), to `slow` if its function differs.
    private void findTopFrame(Label noThread, Label other, Label slow) {
        out.loadThreadWord(R11, shim.tlsOffset());
        out.test(R11);
        out.jump(EQUAL, noThread);
        out.load(RCX, R11, THREAD_SP);
        out.cmp(RAX, RCX, (int) FrameDescriptor.KEY - FRAME);
        out.jump(NOT_EQUAL, other);
        out.load(R9, RCX, (int) FrameDescriptor.FUNCTION - FRAME);
        out.cmp(RDI, R9, (int) FunctionDescriptor.ADDRESS);
        out.jump(NOT_EQUAL, slow);
    }

    /// Pushes the frame at RCX, as [#fill] says, for the function with index RSI. Changes RAX and RDX.
    private void push() {
        Label first = new Label();
        reserve();
        out.load(RDX, R11, (int) ThreadDescriptor.ROWS);
        out.loadIndexed(RDX, RDX, RSI, 0);
        out.movInt(RAX, 0);
        out.test(RDX);
        out.jump(EQUAL, first);
        RowAssembler.loadInside(out, RAX, RDX);
        out.bind(first);
        out.store(RCX, INSIDE, RAX);
        fill(clock::start);
    }

    /// Returns after [#push]. Where slow calls are kept, the thread's CPU clock is read once in a while.
    private void finishEntry() {
        Label due = new Label();
        if (shim.keepsSlow()) {
            out.load(RAX, RCX, START);
            out.cmp(RAX, R11, (int) ThreadDescriptor.CPU_DUE);
            out.jump(ABOVE, due);
        }
        out.ret();
        if (shim.keepsSlow()) {
            out.bind(due);
            out.mov(R11, shim.readCpu());
            out.jump(R11);
        }
    }

    /// The frame at RCX is the top one.
    private void reserve() {
        out.addTo(R11, THREAD_SP, FRAME);
    }

    /// One of the clock's ways to start a call.
    private interface Start {
        void emit(Register base, int callAt, Register thread, int below);
    }

    /// Fills the frame at RCX for the function in R9 and the key in R8; its time is now.
    private void fill(Start start) {
        out.store(RCX, (int) FrameDescriptor.FUNCTION, R9);
        start.emit(RCX, CALL, R11, 0);
        out.store(RCX, (int) FrameDescriptor.KEY, R8);
    }

    /// Releases the top frame; RCX then points after the one below.
    private void pop() {
        out.store(RCX, (int) FrameDescriptor.KEY - FRAME, 0);
        out.sub(RCX, FRAME);
        out.store(R11, THREAD_SP, RCX);
    }

    /// Replaces the word at `[RDX + displacement]` by RCX unless the comparison `unless` holds; changes RAX.
    private void replace(Condition unless, int displacement) {
        Label done = new Label();
        out.cmp(RCX, RDX, displacement);
        out.jump(unless, done);
        RowAssembler.replace(out, RDX, displacement, unless, done);
        out.bind(done);
    }

    /// Calls `function(site, function address, key, return address)` in tail position.
    private void continueInShim(long function) {
        out.mov(RCX, RSI);
        out.mov(RDX, RAX);
        out.mov(RSI, RDI);
        out.mov(RDI, R10);
        out.mov(R11, function);
        out.jump(R11);
    }
}
