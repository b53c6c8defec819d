package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.ABOVE;
import static org.mdlagent.arch.x86.bytes.Condition.ABOVE_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.BELOW;
import static org.mdlagent.arch.x86.bytes.Condition.BELOW_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.GREATER;
import static org.mdlagent.arch.x86.bytes.Condition.GREATER_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.LESS_OR_EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.NOT_EQUAL;
import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RBX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.CountdownDescriptor;
import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.layout.RowBuckets;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// The fast paths of recording for [FunctionStub]: every register that they use is kept, at the entry and at the
/// return, since the caller of a local function may hold values in any that the function leaves alone.
///
/// Assumptions and guarantees are those of [RecordingAssembler], and
///   A2 a frame whose key lies above the call's, on the thread's own stack, is that of a caller which is not gone
///      (`calls.c`, which looks at the others)
///   G4 a frame is given up after all is read from it, RBX too; the caller's return address is on the stack by then
///
/// Within the entry: R11 site, R10 thread, RAX function, RDX frame, RCX key. Within the exit: RBX frame, RAX ticks.
/// What is saved lies below the stack pointer, in the red zone.
///
/// Long because entry and exit are one protocol on one frame: what the one saves and reserves, the other brings back.
final class WholeCallAssembler {
    private static final int FRAME = (int) FrameDescriptor.SIZE;
    private static final int KEY = (int) FrameDescriptor.KEY;
    private static final int SIBLING = (int) FrameDescriptor.SIBLING;
    private static final int FRAME_FLAGS = (int) FrameDescriptor.FLAGS;
    private static final int SP = (int) ThreadDescriptor.SP;
    private static final int INDEX = (int) FunctionDescriptor.INDEX;
    private static final int MEAN = (int) FunctionDescriptor.MEAN;
    private static final int WEIGHT = (int) FrameDescriptor.WEIGHT;

    /// A sibling's number that is left out ([UnwindTable]).
    private static final int NO_SIBLING = 7;

    private static final int SIBLINGS_MAX = 255;

    /// At the entry registers are saved below the one that the stub has saved.
    private static final int ENTRY_SAVED = FunctionStub.SAVED_R11;

    /// Below these: what the call stands for.
    private static final int WEIGHT_AT = ENTRY_SAVED - 5 * Long.BYTES;

    /// The same, before that is known: the site.
    private static final int SITE_AT = WEIGHT_AT;

    /// At the exit the first word below the stack pointer is where the return address goes.
    private static final int EXIT_SAVED = -8;

    /// Below what the exit saves: what callees have taken.
    private static final int CHILDREN_AT = EXIT_SAVED - 6 * Long.BYTES;

    private final RecordingEntryPoints shim;
    private final Assembler out;
    private final DurationClock clock;
    private final SpendingLimit limit;
    private final List<UnwindRow> unwind = new ArrayList<>();
    private final Label entryLiteral = new Label();
    private final Label exitLiteral = new Label();
    private final Label countLiteral = new Label();
    private final Label clientLiteral = new Label();
    private final Label untimed = new Label();

    WholeCallAssembler(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
        clock = new DurationClock(shim, out);
        limit = new SpendingLimit(shim, out);
    }

    /// How to unwind from within the code emitted so far; where it says nothing, the rule of a called function holds.
    List<UnwindRow> unwind() {
        return List.copyOf(unwind);
    }

    /// Emits the entry; its offset.
    int entry() {
        int at = out.offset();
        Label slow = new Label();
        save(ENTRY_SAVED, R10, RAX, RDX, RCX);
        if (shim.exact()) {
            recordEveryCall(slow);
        } else {
            sampledEntry(slow);
        }
        out.bind(slow);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.jumpThrough(entryLiteral);
        return at;
    }

    private void recordEveryCall(Label slow) {
        Label notBelow = new Label();
        findFrame(notBelow, slow);
        countAndFill(true, true, () -> {
            out.store(RDX, SIBLING, 0); // and the flags
            weighOne();
        });
        out.bind(notBelow);
        requireSibling(slow);
        countAndFill(true, true, () -> {
            followSibling();
            weighOne();
        });
    }

    private void weighOne() {
        if (!shim.exact()) {
            out.storeInt(RDX, WEIGHT, 1);
        }
    }

    private void countAndFill(boolean recorded) {
        countAndFill(recorded, false, () -> out.store(RDX, SIBLING, 0)); // flags and weight, too
    }

    private void countAndFill(boolean recorded, boolean everyCall, Runnable setSibling) {
        out.addTo(R10, SP, FRAME);
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.loadInt(RCX, RAX, INDEX);
        out.incrementIndexed(R10, RCX);
        fill(setSibling);
        begin(recorded, everyCall);
    }

    /// Whether the call is timed comes first: else it needs no frame, wherever it runs.
    private void sampledEntry(Label slow) {
        Label everyCall = new Label();
        Label byChance = new Label();
        Label counted = new Label();
        Label inRun = new Label();
        Label warmsUp = new Label();
        findFunction(slow);
        out.cmpInt(RAX, MEAN, 1);
        out.jump(EQUAL, everyCall);
        out.jump(ABOVE, byChance);
        findCalls(slow, limit::open);
        out.loadIndexed(RDX, R10, RCX, 0);
        out.incrementInt(RDX);
        out.addInt(RDX, RAX, (int) FunctionDescriptor.RUN_PHASE);
        out.testInt(RAX, (int) FunctionDescriptor.RUN_MASK, RDX);
        out.jump(EQUAL, inRun);
        out.bind(counted);
        out.incrementIndexed(R10, RCX);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        // A call that is not timed may have snippets at its return.
        out.testByte(R11, (int) (SiteDescriptor.SIZE + SiteDescriptor.FLAGS), SiteDescriptor.FLAG_SNIPPETS);
        out.jump(NOT_EQUAL, untimed);
        out.cmp(R11, R11);
        out.ret();

        out.bind(inRun);
        out.cmpInt(RAX, (int) FunctionDescriptor.REMAINING, 0);
        out.jump(LESS_OR_EQUAL, counted);
        out.cmpInt(RAX, (int) FunctionDescriptor.STATE, FunctionDescriptor.STATE_SAMPLING);
        out.jump(NOT_EQUAL, counted);
        findFrame(slow, slow);
        // Threads that come here together may time some calls more.
        out.decrementInt(RAX, (int) FunctionDescriptor.REMAINING);
        out.loadInt(RCX, RAX, (int) FunctionDescriptor.REMAINING);
        out.cmpInt(RCX, RAX, (int) FunctionDescriptor.RECORDED);
        out.jump(GREATER_OR_EQUAL, warmsUp);
        countAndFill(true);

        out.bind(warmsUp);
        countAndFill(false);

        out.bind(byChance);
        timeByChance(counted, slow);

        out.bind(everyCall);
        findCalls(slow, limit::exact);
        recordEveryCall(slow);
    }

    /// Those calls are timed whose turn it is (`tier.h`); the others go on at `counted`.
    private void timeByChance(Label counted, Label slow) {
        Label timed = new Label();
        out.loadInt(RCX, RAX, INDEX);
        out.load(RDX, R10, (int) ThreadDescriptor.COUNTDOWNS);
        out.cmpIntIndexed(RDX, RCX, (int) CountdownDescriptor.LEFT, 1);
        out.jump(LESS_OR_EQUAL, timed);
        out.decrementIntIndexed(RDX, RCX);
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.jump(counted);

        out.bind(timed);
        out.leaIndexed(RDX, RDX, RCX);
        out.loadInt(RDX, RDX, (int) CountdownDescriptor.WEIGHT);
        out.test(RDX);
        out.jump(EQUAL, slow);
        checkDeadline(slow, limit::byChance, false);
        findThread(slow);
        out.load(RDX, R10, (int) ThreadDescriptor.COUNTDOWNS);
        out.leaIndexed(RDX, RDX, RCX);
        out.loadInt(RCX, RDX, (int) CountdownDescriptor.WEIGHT);
        out.store(RSP, WEIGHT_AT, RCX);
        findFrame(slow, slow);
        out.addTo(R10, SP, FRAME);
        fill(() -> out.store(RDX, SIBLING, 0)); // and the flags
        out.load(RCX, RSP, WEIGHT_AT);
        out.storeInt(R11, WEIGHT, RCX);
        out.loadInt(RCX, RAX, INDEX);
        out.load(RDX, R10, (int) ThreadDescriptor.CALLS);
        out.incrementIndexed(RDX, RCX);
        out.load(RDX, R10, (int) ThreadDescriptor.COUNTDOWNS);
        out.leaIndexed(RDX, RDX, RCX);
        RecordingAssembler.drawInterval(out, RDX, RAX, RCX, R10);
        clock.prepare();
        begin(true, false);
    }

    /// Emits an entry whose frame is for snippets at the return alone: nothing of the call is recorded. Its offset.
    int untimedEntry() {
        int at = out.offset();
        out.bind(untimed);
        Label slow = new Label();
        save(ENTRY_SAVED, R10, RAX, RDX, RCX);
        findFrame(slow, slow);
        out.addTo(R10, SP, FRAME);
        out.store(RDX, (int) FrameDescriptor.FUNCTION, RAX);
        out.store(RDX, (int) FrameDescriptor.SITE, R11);
        out.store(RDX, (int) FrameDescriptor.CHILDREN, 0);
        out.store(RDX, SIBLING, FrameDescriptor.FLAG_UNTIMED << Byte.SIZE);
        out.mov(R11, RDX);
        out.store(R11, KEY, RCX);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.test(RSP); // not zero
        out.ret();

        out.bind(slow);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.jumpThrough(clientLiteral);
        return at;
    }

    /// Emits what counts a call, keeps every register and returns to the function; its offset.
    int count() {
        int at = out.offset();
        unwind.add(new UnwindRow(at, UnwindRow.Rule.CALLED));
        Label slow = new Label();
        save(ENTRY_SAVED, R10, RAX, RDX, RCX);
        findFunction(slow);
        if (shim.exact()) {
            out.load(R10, R10, (int) ThreadDescriptor.CALLS);
            out.loadInt(RCX, RAX, INDEX);
        } else {
            findCalls(slow, limit::open);
        }
        out.incrementIndexed(R10, RCX);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.load(R11, RSP, FunctionStub.SAVED_R11);
        out.ret();
        out.bind(slow);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.jumpThrough(countLiteral);
        return at;
    }

    /// Emits the same for code on stacks that may have no room for more: threads are known from their beginning, or are
    /// not counted, and nobody looks at the clock. Its offset.
    int countAlone() {
        int at = out.offset();
        Label mute = new Label();
        save(ENTRY_SAVED, R10, RAX, RCX);
        findThread(mute);
        out.load(RCX, R10, SP);
        out.cmp(RCX, R10, (int) ThreadDescriptor.SP_LIMIT);
        out.jump(EQUAL, mute);
        out.load(RAX, R11, (int) SiteDescriptor.FUNCTION);
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.loadInt(RCX, RAX, INDEX);
        out.incrementIndexed(R10, RCX);
        out.bind(mute);
        restore(ENTRY_SAVED, R10, RAX, RCX);
        out.load(R11, RSP, FunctionStub.SAVED_R11);
        out.ret();
        return at;
    }

    /// Emits the exit, which a jump leads to; its offset.
    int exit() {
        if (!shim.exact()) {
            clock.beforeExit();
        }
        int at = out.offset();
        Label slow = new Label();
        unwind.add(new UnwindRow(at, UnwindRow.Rule.FRAMED));
        if (shim.exact()) {
            exactExit(slow);
        } else {
            sampledExit(slow);
        }
        return at;
    }

    /// Emits the exit for frames of [#untimedEntry]; its offset.
    int untimedExit() {
        int at = out.offset();
        Label slow = new Label();
        save(EXIT_SAVED, RDX, RCX, R11);
        findTopFrame(slow);
        out.cmpByte(RBX, SIBLING, 0);
        out.jump(NOT_EQUAL, slow);
        // What callees took stands for itself in the caller: this call is not seen.
        out.load(RDX, RBX, (int) FrameDescriptor.CHILDREN);
        out.addTo(RBX, (int) FrameDescriptor.CHILDREN - FRAME, RDX);
        leave(RDX, RCX, R11);

        out.bind(slow);
        restore(EXIT_SAVED, RDX, RCX, R11);
        out.jumpThrough(exitLiteral);
        return at;
    }

    /// Emits what the code refers to. It goes behind the rest.
    void literals() {
        out.literal(clientLiteral, shim.clients().functionEntry());
        out.literal(entryLiteral, shim.functionEntrySlow());
        out.literal(exitLiteral, shim.functionExitSlow());
        out.literal(countLiteral, shim.countSlow());
    }

    /// R10 thread.
    private void findThread(Label slow) {
        out.loadThreadWord(R10, shim.tlsOffset());
        out.test(R10);
        out.jump(EQUAL, slow);
    }

    /// R10 thread that records, RAX function; changes RCX.
    private void findFunction(Label slow) {
        findThread(slow);
        out.load(RCX, R10, SP);
        out.cmp(RCX, R10, (int) ThreadDescriptor.SP_LIMIT);
        out.jump(EQUAL, slow);
        out.load(RAX, R11, (int) SiteDescriptor.FUNCTION);
    }

    /// R10 thread, RAX function, RDX its next free frame, RCX key.
    ///
    /// @param notBelow where to go on, with the same and the flags, unless the last frame's key is above
    private void findFrame(Label notBelow, Label slow) {
        findThread(slow);
        out.load(RAX, R11, (int) SiteDescriptor.FUNCTION);
        out.load(RDX, R10, SP);
        out.lea(RCX, RSP, 16);
        out.cmp(RCX, RDX, KEY - FRAME);
        out.jump(ABOVE_OR_EQUAL, notBelow);
        requireRoom(slow);
    }

    private void requireRoom(Label slow) {
        out.cmp(RCX, R10, (int) ThreadDescriptor.STACK_LOW);
        out.jump(BELOW_OR_EQUAL, slow);
        out.cmp(RDX, R10, (int) ThreadDescriptor.SP_LIMIT);
        out.jump(ABOVE_OR_EQUAL, slow);
    }

    /// Goes on where the last frame's function has called this one in place of its return, and so has left
    /// it its key (`calls.c`); changes RCX.
    private void requireSibling(Label slow) {
        out.jump(NOT_EQUAL, slow);
        requireRoom(slow);
        out.cmpByte(RDX, SIBLING - FRAME, SIBLINGS_MAX);
        out.jump(ABOVE_OR_EQUAL, slow);
        out.load(RCX, RDX, (int) FrameDescriptor.SITE - FRAME);
        out.test(RCX);
        out.jump(EQUAL, slow);
        out.load(RCX, RCX, (int) SiteDescriptor.STUB);
        out.lea(RCX, RCX, FunctionStub.RETURN_AT);
        out.cmp(RCX, RSP, 8); // where the call returns to
        out.jump(NOT_EQUAL, slow);
    }

    /// The frame's flags become 0; changes RCX.
    private void followSibling() {
        Label next = new Label();
        out.load(RCX, RDX, SIBLING - FRAME, Byte.BYTES, false);
        out.lea(RCX, RCX, 1);
        out.cmp(RCX, NO_SIBLING);
        out.jump(NOT_EQUAL, next);
        out.lea(RCX, RCX, 1);
        out.bind(next);
        out.store(RDX, SIBLING, RCX);
    }

    /// Goes on with the calls of the function in RAX at R10[RCX], unless its window is over; changes RDX.
    private void findCalls(Label slow, SpendingLimit.Price price) {
        Label inTime = new Label();
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.loadInt(RCX, RAX, INDEX);
        out.testLowByteIndexed(R10, RCX, RecordingAssembler.DEADLINE_CHECK_CALLS - 1);
        out.jump(NOT_EQUAL, inTime);
        checkDeadline(slow, price, true);
        out.loadThreadWord(R10, shim.tlsOffset());
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.bind(inTime);
    }

    /// RCX index of the function in RAX; goes on at `slow` where the agent has given no sign of life for long, or the
    /// thread cannot afford more. Changes R10 and RDX.
    ///
    /// @param ofCalls whether the price is of calls that are counted: before a thread's first one there is none
    private void checkDeadline(Label slow, SpendingLimit.Price price, boolean ofCalls) {
        Label over = new Label();
        Label paid = new Label();
        Label inTime = new Label();
        out.mov(RCX, RAX);
        out.readTsc();
        out.cmp(RAX, RCX, (int) FunctionDescriptor.DEADLINE);
        out.jump(ABOVE, slow);
        out.store(RSP, SITE_AT, R11);
        out.loadThreadWord(R10, shim.tlsOffset());
        if (ofCalls) {
            out.load(R11, R10, (int) ThreadDescriptor.CALLS);
            out.loadInt(RDX, RCX, INDEX);
            out.loadIndexed(R11, R11, RDX, 0);
            out.test(R11);
            out.jump(EQUAL, paid);
        }
        limit.pay(price, RAX, RCX, R10, R11, RDX, over);
        out.bind(paid);
        out.load(R11, RSP, SITE_AT);
        out.jump(inTime);
        out.bind(over);
        out.load(R11, RSP, SITE_AT);
        out.jump(slow);
        out.bind(inTime);
        out.mov(RAX, RCX);
        out.loadInt(RCX, RAX, INDEX);
    }

    /// Fills the frame at RDX, which is in R11 then, but for its time and its key.
    private void fill(Runnable setSibling) {
        out.store(RDX, (int) FrameDescriptor.FUNCTION, RAX);
        out.store(RDX, (int) FrameDescriptor.SITE, R11);
        setSibling.run();
        out.mov(R11, RDX);
    }

    /// Returns with the frame in R11; its time is now, unless it is not recorded.
    ///
    /// @param everyCall whether each call of the function has a frame, so that nested ones are known (`rows.h`)
    private void begin(boolean recorded, boolean everyCall) {
        clock.start(R11, ENTRY_SAVED - 4 * Long.BYTES);
        if (!recorded) {
            out.store(R11, (int) FrameDescriptor.TSC, 0);
        }
        out.lea(RCX, RSP, 16);
        out.store(R11, KEY, RCX);
        Label other = new Label();
        Label done = new Label();
        if (everyCall) {
            out.loadThreadWord(R10, shim.tlsOffset());
            out.load(RAX, R11, (int) FrameDescriptor.FUNCTION);
            out.loadInt(RCX, RAX, INDEX);
            out.load(RDX, R10, (int) ThreadDescriptor.ROWS);
            out.loadIndexed(RDX, RDX, RCX, 0);
            out.test(RDX);
            out.jump(EQUAL, done);
            out.cmp(R11, RDX, (int) RowDescriptor.OUTERMOST);
            out.jump(NOT_EQUAL, other);
        }
        out.bind(done);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.test(RSP); // not zero
        out.ret();
        if (everyCall) {
            out.bind(other);
            RecordingAssembler.noteOutermost(out, RDX, R11, RAX, R10, RCX, done);
        }
    }

    private void exactExit(Label slow) {
        Label slowRecord = new Label();
        save(EXIT_SAVED, RAX, RDX, RCX, R11, R10);
        // Before the clock: a handler that runs behind its reading adds what this call's time does not contain.
        out.load(R10, RBX, (int) FrameDescriptor.CHILDREN);
        findTicks(slow);
        out.store(RSP, CHILDREN_AT, R10);
        out.load(RDX, RBX, (int) FrameDescriptor.FUNCTION);
        out.addTo(RBX, (int) FrameDescriptor.CHILDREN - FRAME, RAX);
        clock.takeOffReading();
        recordInRow(slowRecord);
        out.bind(slow);
        restore(EXIT_SAVED, RAX, RDX, RCX, R11, R10);
        out.jumpThrough(exitLiteral);
    }

    /// Records RAX ticks of the frame at RBX in the row of the function in RDX, and leaves; or goes on at
    /// `slowRecord` when that has no memory yet. All registers of the exit are saved.
    private void recordInRow(Label slowRecord) {
        Label inner = new Label();
        Label innerDone = new Label();
        Label less = new Label();
        Label more = new Label();
        Label minDone = new Label();
        Label maxDone = new Label();
        out.loadInt(RDX, RDX, INDEX);
        out.load(R10, R11, (int) ThreadDescriptor.ROWS);
        out.loadIndexed(R10, R10, RDX, 0);
        out.test(R10);
        out.jump(EQUAL, slowRecord);
        // RowBuckets.index, as in RecordingAssembler.
        out.mov(RCX, RAX);
        out.or(RCX, RowBuckets.SUB_BUCKET_MASK);
        out.bitScanReverse(RCX, RCX);
        out.sub(RCX, RowBuckets.SUB_BUCKET_HALF_BITS);
        out.mov(RDX, RAX);
        out.shiftRightByCl(RDX);
        out.shiftLeft(RCX, RowBuckets.SUB_BUCKET_HALF_BITS);
        out.add(RDX, RCX);
        out.mov(RCX, RDX);
        out.shiftRight(RCX, RowBuckets.SUB_BUCKET_HALF_BITS);
        out.loadIndexed(RCX, R10, RCX, (int) RowDescriptor.CHUNKS_AT);
        out.test(RCX);
        out.jump(EQUAL, slowRecord);
        out.and(RDX, RowDescriptor.CHUNK_SLOTS - 1);
        out.incrementIndexed(RCX, RDX);
        out.increment(R10, (int) RowDescriptor.COUNT);
        if (!shim.exact()) {
            out.increment(R10, (int) RowDescriptor.SAMPLES);
        }
        out.addTo(R10, (int) RowDescriptor.TOTAL, RAX);
        out.cmp(RBX, R10, (int) RowDescriptor.OUTERMOST);
        out.jump(NOT_EQUAL, inner);
        out.bind(innerDone);
        if (shim.exact()) {
            out.mov(RCX, RAX);
            out.sub(RCX, RSP, CHILDREN_AT);
            clock.atLeastNothing(RCX);
            out.addTo(R10, (int) RowDescriptor.SELF, RCX);
        }
        out.cmp(RAX, R10, (int) RowDescriptor.MIN);
        out.jump(BELOW, less);
        out.bind(minDone);
        out.cmp(RAX, R10, (int) RowDescriptor.MAX);
        out.jump(ABOVE, more);
        out.bind(maxDone);
        leave(RAX, RDX, RCX, R11, R10);

        out.bind(inner);
        RecordingAssembler.addNested(out, R10, RBX, RAX, RCX, innerDone);
        out.bind(less);
        replace(BELOW, (int) RowDescriptor.MIN);
        out.jump(minDone);
        out.bind(more);
        replace(ABOVE, (int) RowDescriptor.MAX);
        out.jump(maxDone);

        out.bind(slowRecord);
        // The ticks stay those of the call: the slow path's own would need other memory for their slot.
        out.store(RBX, (int) FrameDescriptor.TSC, RAX);
        out.storeByte(RBX, FRAME_FLAGS, FrameDescriptor.FLAG_MEASURED);
        restore(EXIT_SAVED, RAX, RDX, RCX, R11, R10);
        out.jumpThrough(exitLiteral);
    }

    private void sampledExit(Label slow) {
        Label inRow = new Label();
        Label slowRecord = new Label();
        Label full = new Label();
        Label leave = new Label();
        save(EXIT_SAVED, RAX, RDX, RCX, R11);
        findTicks(slow);
        clock.takeOffReading();
        out.cmpInt(RBX, WEIGHT, 0);
        out.jump(NOT_EQUAL, inRow);
        out.cmp(RBX, (int) FrameDescriptor.TSC, 0);
        out.jump(EQUAL, leave);
        out.load(RDX, R11, (int) ThreadDescriptor.HEAD);
        out.sub(RDX, R11, (int) ThreadDescriptor.TAIL);
        out.load(RCX, R11, (int) ThreadDescriptor.RING_MASK);
        out.sub(RCX, RecordingAssembler.RING_SLACK - 1);
        out.cmp(RDX, RCX);
        out.jump(ABOVE_OR_EQUAL, full);
        out.movInt(RDX, 1);
        out.exchangeAdd(R11, (int) ThreadDescriptor.HEAD, RDX);
        out.mov(RCX, RDX);
        out.and(RCX, R11, (int) ThreadDescriptor.RING_MASK);
        out.shiftLeft(RCX, 5);
        out.add(RCX, R11, (int) ThreadDescriptor.RING);
        out.prefetchForWriting(RCX, RecordingAssembler.PREFETCHED);
        out.store(RCX, (int) RecordDescriptor.DURATION, RAX);
        out.load(RAX, RBX, clock.startField());
        out.store(RCX, (int) RecordDescriptor.START, RAX);
        out.load(RAX, RBX, (int) FrameDescriptor.FUNCTION);
        out.loadInt(RAX, RAX, INDEX);
        out.storeInt(RCX, (int) RecordDescriptor.FUNCTION, RAX);
        out.load(RAX, RBX, (int) FrameDescriptor.RET);
        out.store(RCX, (int) RecordDescriptor.CALLER, RAX);
        out.incrementInt(RDX);
        out.storeInt(RCX, (int) RecordDescriptor.SEQ, RDX);
        out.bind(leave);
        leave(RAX, RDX, RCX, R11);

        out.bind(full);
        out.increment(R11, (int) ThreadDescriptor.DROPPED);
        out.jump(leave);
        out.bind(slow);
        restore(EXIT_SAVED, RAX, RDX, RCX, R11);
        out.jumpThrough(exitLiteral);

        out.bind(inRow);
        out.store(RSP, EXIT_SAVED - 5 * Long.BYTES, R10); // where recordInRow restores it from
        // Who calls is told to the shim, and what stands for several calls.
        out.cmpInt(RBX, WEIGHT, 1);
        out.jump(ABOVE, slowRecord);
        out.load(RDX, RBX, (int) FrameDescriptor.FUNCTION);
        out.cmpInt(RDX, (int) FunctionDescriptor.REMAINING, 0);
        out.jump(GREATER, slowRecord);
        recordInRow(slowRecord);
    }

    /// RAX ticks of the call, R11 thread, whose top frame is the call's; or `slow`. Changes RCX and RDX.
    private void findTicks(Label slow) {
        clock.requireAgent(RDX, slow);
        // Before the clock: a thread that may not read it has no frames (`record_without_clock`).
        findTopFrame(slow);
        clock.elapsedWithoutShim(RBX, (int) FrameDescriptor.TSC, EXIT_SAVED - 5 * Long.BYTES, RCX);
        out.cmpByte(RBX, FRAME_FLAGS, 0);
        out.jump(NOT_EQUAL, slow);
    }

    /// R11 thread, whose top frame is the one at RBX; changes RCX.
    private void findTopFrame(Label slow) {
        out.loadThreadWord(R11, shim.tlsOffset());
        out.test(R11);
        out.jump(EQUAL, slow);
        out.lea(RCX, RBX, FRAME);
        out.cmp(RCX, R11, SP);
        out.jump(NOT_EQUAL, slow);
    }

    /// Releases the frame at RBX of the thread in R11 and returns to the caller.
    private void leave(Register... saved) {
        out.push(RBX, (int) FrameDescriptor.RET);
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.RETURNING));
        out.load(RCX, RBX, (int) FrameDescriptor.RBX);
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.RBX_IN_RCX));
        out.store(RBX, SIBLING, 0); // and the flags: probes in a body leave them as they find them
        out.store(RBX, KEY, 0);
        out.store(R11, SP, RBX);
        out.mov(RBX, RCX);
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.CALLED));
        // The return address has taken a word.
        restore(EXIT_SAVED + Long.BYTES, saved);
        out.ret();
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.FRAMED));
    }

    /// Replaces the word at `[R10 + displacement]` by RAX while RAX is `better` than it; changes RCX and RDX.
    private void replace(Condition better, int displacement) {
        Label retry = new Label();
        Label done = new Label();
        out.mov(RCX, RAX);
        out.load(RAX, R10, displacement);
        out.bind(retry);
        out.cmp(RCX, RAX);
        out.jump(better == BELOW ? ABOVE_OR_EQUAL : BELOW_OR_EQUAL, done);
        out.compareExchange(R10, displacement, RCX);
        out.jump(NOT_EQUAL, retry);
        out.bind(done);
        out.mov(RAX, RCX);
    }

    private void save(int below, Register... registers) {
        for (Register register : registers) {
            below -= Long.BYTES;
            out.store(RSP, below, register);
        }
    }

    private void restore(int below, Register... registers) {
        for (Register register : registers) {
            below -= Long.BYTES;
            out.load(register, RSP, below);
        }
    }
}
