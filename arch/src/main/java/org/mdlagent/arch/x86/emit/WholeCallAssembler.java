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
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.layout.CountdownDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// The fast paths of recording for [FunctionStub]. They preserve every register at entry and return, because the
/// caller of a local function may keep values in any register that the function does not change.
///
/// The words of the call ([CallDescriptor]) are on the program's stack, below the return address. So they belong
/// to the call, whatever thread or stack it runs on, and vanish with it. Assumptions and guarantees are those of
/// [RecordingAssembler] and `calls.c`.
///
/// In the entry, which the stub calls: R11 site, R10 thread, RAX function; the words follow the return address. In
/// the exit, which is reached by a jump: RAX ticks, R10 thread, R11 function; the words are on top of the stack,
/// and the word below is the body's return address in the stub. Registers are saved in the red zone.
final class WholeCallAssembler {
    /// The words of the call at entry, after the return address into the stub.
    private static final int CALL_AT = Long.BYTES;

    /// The call's return address.
    private static final int RETURN_AT = (int) CallDescriptor.SIZE;

    private static final int INSIDE = (int) CallDescriptor.INSIDE;
    private static final int BEFORE = (int) CallDescriptor.BEFORE;
    private static final int START = (int) CallDescriptor.START;
    private static final int INDEX = (int) FunctionDescriptor.INDEX;
    private static final int MEAN = (int) FunctionDescriptor.MEAN;

    private static final int FLAGS_BYTE = INSIDE + Long.BYTES - 1;
    private static final int FLAGS = (int) (CallDescriptor.MEASURED >>> Long.SIZE - Byte.SIZE)
            | (int) (CallDescriptor.UNTIMED >>> Long.SIZE - Byte.SIZE);

    /// At entry, registers are saved below the one that the stub has saved.
    private static final int ENTRY_SAVED = FunctionStub.SAVED_R11;

    /// Below these: the call's weight.
    private static final int WEIGHT_AT = ENTRY_SAVED - 5 * Long.BYTES;

    /// The same place before the weight is known: the site.
    private static final int SITE_AT = WEIGHT_AT;

    /// Return address into the stub at the start of the exit.
    private static final int STUB_AT = -8;

    /// At exit, four registers are saved below that, and then R11.
    private static final int EXIT_SAVED = STUB_AT;

    /// Place of the saved R11.
    private static final int EXIT_R11 = FunctionStub.SIBLING_R11;

    /// Below: the site that a sibling call leads to, then its stub.
    private static final int NEXT_AT = EXIT_R11 - Long.BYTES;

    /// Below: the time of callees.
    private static final int CHILDREN_AT = NEXT_AT - Long.BYTES;

    private final RecordingEntryPoints shim;
    private final Assembler out;
    private final DurationClock clock;
    private final SpendingLimit limit;
    private final List<UnwindRow> unwind = new ArrayList<>();
    private final Label entryLiteral = new Label();
    private final Label exitLiteral = new Label();
    private final Label siblingLiteral = new Label();
    private final Label countLiteral = new Label();
    private final Label clientLiteral = new Label();
    private final Label cpuLiteral = new Label();
    private final Label untimed = new Label();

    /// Whether the exit being emitted is for sibling calls.
    private boolean atSibling;

    WholeCallAssembler(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
        clock = new DurationClock(shim, out);
        limit = new SpendingLimit(shim, out);
    }

    /// Unwind rows of the code emitted so far; before the first, the rule at a function's entry applies.
    List<UnwindRow> unwind() {
        return List.copyOf(unwind);
    }

    /// Emits the entry. Returns its offset.
    int entry() {
        int at = out.offset();
        Label slow = new Label();
        Label sibling = new Label();
        Label deep = new Label();
        save(ENTRY_SAVED, R10, RAX, RDX, RCX);
        if (shim.exact()) {
            findThread(slow);
            out.load(RAX, R11, (int) SiteDescriptor.FUNCTION);
            timeEveryCall(sibling, deep);
        } else {
            sampledEntry(sibling, deep, slow);
        }
        out.bind(deep);
        // Threads that record nothing have no room.
        requireRecording(slow);
        out.increment(R10, (int) ThreadDescriptor.OVERFLOW);
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.loadInt(RCX, RAX, INDEX);
        out.incrementIndexed(R10, RCX);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        passUnseen();

        out.bind(sibling);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.setCarry();
        out.ret();

        out.bind(slow);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        out.jumpThrough(entryLiteral);
        return at;
    }

    /// Tells the stub that the return is not needed.
    private void passUnseen() {
        out.cmp(R11, R11);
        out.load(R11, RSP, FunctionStub.SAVED_R11);
        out.ret();
    }

    /// Tells the stub that the call's words are stored.
    private void passSeen() {
        out.test(RSP); // not zero, without a carry
        out.load(R11, RSP, FunctionStub.SAVED_R11);
        out.ret();
    }

    /// For the function in RAX and the thread in R10.
    private void timeEveryCall(Label sibling, Label deep) {
        Label first = new Label();
        requireRoom(deep);
        FunctionStub.findSibling(out, CALL_AT + RETURN_AT, RCX, RDX, sibling);
        out.loadInt(RCX, RAX, INDEX);
        out.load(RDX, R10, (int) ThreadDescriptor.CALLS);
        out.incrementIndexed(RDX, RCX);
        out.load(RDX, R10, (int) ThreadDescriptor.ROWS);
        out.loadIndexed(RDX, RDX, RCX, 0);
        out.movInt(RCX, 0);
        out.test(RDX);
        out.jump(EQUAL, first);
        RowAssembler.loadInside(out, RCX, RDX);
        out.bind(first);
        out.store(RSP, CALL_AT + INSIDE, RCX);
        begin();
    }

    /// First decide whether the call is timed: otherwise it needs no words.
    private void sampledEntry(Label sibling, Label deep, Label slow) {
        Label everyCall = new Label();
        Label byChance = new Label();
        Label counted = new Label();
        findFunction(slow);
        out.cmpInt(RAX, MEAN, 1);
        out.jump(EQUAL, everyCall);
        out.jump(ABOVE, byChance);
        findCalls(slow, limit::open);
        out.bind(counted);
        out.incrementIndexed(R10, RCX);
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        // An untimed call may have snippets at its return.
        out.testByte(R11, (int) (SiteDescriptor.SIZE + SiteDescriptor.FLAGS), SiteDescriptor.FLAG_SNIPPETS);
        out.jump(NOT_EQUAL, untimed);
        passUnseen();

        out.bind(byChance);
        timeByChance(counted, sibling, deep, slow);

        out.bind(everyCall);
        findCalls(slow, limit::exact);
        findThread(slow);
        timeEveryCall(sibling, deep);
    }

    /// A call is timed if its countdown has run out (`tier.h`); otherwise jumps to `counted`.
    private void timeByChance(Label counted, Label sibling, Label deep, Label slow) {
        Label timed = new Label();
        out.loadInt(RCX, RAX, INDEX);
        out.load(RDX, R10, (int) ThreadDescriptor.COUNTDOWNS);
        out.cmpIntIndexed(RDX, RCX, (int) CountdownDescriptor.LEFT, 1);
        out.jump(LESS_OR_EQUAL, timed);
        out.decrementIntIndexed(RDX, RCX);
        out.load(R10, R10, (int) ThreadDescriptor.CALLS);
        out.jump(counted);

        out.bind(timed);
        clock.beginPreparing(RCX);
        out.loadInt(RCX, RAX, INDEX);
        out.load(RDX, R10, (int) ThreadDescriptor.COUNTDOWNS);
        out.leaIndexed(RDX, RDX, RCX);
        out.loadInt(RDX, RDX, (int) CountdownDescriptor.WEIGHT);
        out.test(RDX);
        out.jump(EQUAL, slow);
        requireRoom(deep);
        FunctionStub.findSibling(out, CALL_AT + RETURN_AT, RCX, RDX, sibling);
        out.loadInt(RCX, RAX, INDEX);
        checkDeadline(slow, limit::byChance, false);
        findThread(slow);
        out.load(RDX, R10, (int) ThreadDescriptor.CALLS);
        out.incrementIndexed(RDX, RCX);
        out.load(RDX, R10, (int) ThreadDescriptor.COUNTDOWNS);
        out.leaIndexed(RDX, RDX, RCX);
        out.loadInt(RCX, RDX, (int) CountdownDescriptor.WEIGHT);
        out.store(RSP, WEIGHT_AT, RCX);
        RecordingAssembler.drawInterval(out, RDX, RAX, RCX, R10);
        out.mov(RCX, CallDescriptor.WEIGHED);
        out.add(RCX, RSP, WEIGHT_AT);
        out.store(RSP, CALL_AT + INSIDE, RCX);
        clock.prepare();
        clock.startPrepared(RSP, CALL_AT, R10, ENTRY_SAVED - 5 * Long.BYTES);
        finishEntry();
    }

    /// Emits an entry whose words serve only snippets at the return; the call is not recorded. Returns its offset.
    int untimedEntry() {
        int at = out.offset();
        out.bind(untimed);
        Label slow = new Label();
        save(ENTRY_SAVED, R10, RCX);
        findThread(slow);
        requireRoom(slow);
        out.mov(RCX, CallDescriptor.UNTIMED);
        out.store(RSP, CALL_AT + INSIDE, RCX);
        restore(ENTRY_SAVED, R10, RCX);
        passSeen();

        out.bind(slow);
        restore(ENTRY_SAVED, R10, RCX);
        out.jumpThrough(clientLiteral);
        return at;
    }

    /// Emits code that counts a call, preserves every register and returns to the function. Returns its offset.
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

    /// Emits the same for small stacks: threads that are not registered from birth are not counted, and the clock
    /// is not checked. Returns its offset.
    int countAlone() {
        int at = out.offset();
        Label mute = new Label();
        save(ENTRY_SAVED, R10, RAX, RCX);
        findThread(mute);
        requireRecording(mute);
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

    /// Emits the exit. Returns its offset.
    int exit() {
        if (!shim.exact()) {
            clock.beforeExit();
        }
        return exit(false);
    }

    /// Emits the exit of calls that end by a sibling call: restarts the stub of the sibling, whose site is in R11.
    /// Returns its offset.
    int siblingExit() {
        return exit(true);
    }

    private int exit(boolean sibling) {
        int at = out.offset();
        Label slow = new Label();
        atSibling = sibling;
        unwind.add(new UnwindRow(at, UnwindRow.Rule.IN_CALL));
        save(EXIT_SAVED, RAX, RDX, RCX, R10);
        out.store(RSP, sibling ? NEXT_AT : EXIT_R11, R11);
        if (shim.exact()) {
            exactExit(slow);
        } else {
            sampledExit(slow);
        }
        return at;
    }

    /// Emits the exit of calls started by [#untimedEntry]. Returns its offset.
    int untimedExit() {
        int at = out.offset();
        unwind.add(new UnwindRow(at, UnwindRow.Rule.IN_CALL));
        dropWords();
        out.ret();
        return at;
    }

    private void dropWords() {
        out.add(RSP, RETURN_AT);
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.CALLED));
    }

    /// Emits the literals, after the code.
    void literals() {
        out.literal(clientLiteral, shim.clients().functionEntry());
        out.literal(entryLiteral, shim.functionEntrySlow());
        out.literal(exitLiteral, shim.functionExitSlow());
        out.literal(siblingLiteral, shim.functionSiblingSlow());
        out.literal(countLiteral, shim.countSlow());
        if (shim.keepsSlow()) {
            out.literal(cpuLiteral, shim.functionEntryCpu());
        }
    }

    /// R10 thread.
    private void findThread(Label slow) {
        out.loadThreadWord(R10, shim.tlsOffset());
        out.test(R10);
        out.jump(EQUAL, slow);
    }

    /// Continues if the thread in R10 records anything.
    private void requireRecording(Label otherwise) {
        out.cmp(R10, (int) ThreadDescriptor.BORN, -1);
        out.jump(EQUAL, otherwise);
    }

    /// R10 thread that records, RAX function.
    private void findFunction(Label slow) {
        findThread(slow);
        requireRecording(slow);
        out.load(RAX, R11, (int) SiteDescriptor.FUNCTION);
    }

    /// Continues if the stack has room for the words of a call; changes RCX.
    private void requireRoom(Label deep) {
        out.mov(RCX, RSP);
        out.sub(RCX, R10, (int) ThreadDescriptor.STACK_LOW);
        out.cmp(RCX, R10, (int) ThreadDescriptor.STACK_ROOM);
        out.jump(BELOW, deep);
    }

    /// Continues with the call counter of the function in RAX at R10[RCX], unless its lease has expired; changes
    /// RDX.
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

    /// RCX: index of the function in RAX. Jumps to `slow` if the agent's heartbeat is stale, or the thread has
    /// exhausted its budget. Changes R10 and RDX.
    ///
    /// @param ofCalls whether to pay for counted calls: none before a thread's first
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

    /// The call of the thread in R10 begins now.
    private void begin() {
        Label due = new Label();
        clock.start(RSP, CALL_AT, R10, ENTRY_SAVED - 5 * Long.BYTES);
        if (shim.keepsSlow()) {
            out.load(RAX, RSP, CALL_AT + START);
            out.cmp(RAX, R10, (int) ThreadDescriptor.CPU_DUE);
            out.jump(ABOVE, due);
        }
        finishEntry();
        if (shim.keepsSlow()) {
            out.bind(due);
            restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
            out.jumpThrough(cpuLiteral);
        }
    }

    /// Jumps to `slow` if a call of RAX ticks of the function in R11 belongs into the ring of slow calls. Changes
    /// RCX.
    private void findSlow(Label slow) {
        if (shim.keepsSlow()) {
            out.loadInt(RCX, R11, (int) FunctionDescriptor.SLOW);
            out.cmp(RAX, RCX);
            out.jump(ABOVE_OR_EQUAL, slow);
        }
    }

    private void finishEntry() {
        restore(ENTRY_SAVED, R10, RAX, RDX, RCX);
        passSeen();
    }

    private void exactExit(Label slow) {
        findCall(slow);
        // Before reading the clock: a later handler adds time that this duration does not contain.
        out.load(RDX, R10, (int) ThreadDescriptor.TAKEN);
        out.sub(RDX, RSP, BEFORE);
        out.store(RSP, CHILDREN_AT, RDX);
        clock.elapsed(RSP, START, CHILDREN_AT);
        findSlow(slow);
        out.mov(RCX, RAX);
        out.sub(RCX, RSP, CHILDREN_AT);
        clock.atLeastNothing(RCX);
        out.addTo(R10, (int) ThreadDescriptor.TAKEN, RCX);
        clock.takeOffReading();
        recordInRow();
        out.bind(slow);
        continueSlow();
    }

    /// Records RAX ticks in the row of the function in R11 and the thread in R10, and leaves.
    private void recordInRow() {
        Label slowRecord = new Label();
        Label nested = new Label();
        Label nestedDone = new Label();
        Label less = new Label();
        Label more = new Label();
        Label minDone = new Label();
        Label maxDone = new Label();
        out.loadInt(RDX, R11, INDEX);
        out.load(R10, R10, (int) ThreadDescriptor.ROWS);
        out.loadIndexed(R10, R10, RDX, 0);
        out.test(R10);
        out.jump(EQUAL, slowRecord);
        if (shim.exact()) {
            out.load(RCX, RSP, RETURN_AT);
            CallerAssembler.find(out, R10, RCX, null, R11, RDX, slowRecord);
        }
        RowAssembler.count(out, R10, RDX, !shim.exact(), slowRecord);
        RowAssembler.loadInside(out, RCX, R10);
        out.sub(RCX, RSP, INSIDE);
        out.jump(GREATER, nested);
        out.bind(nestedDone);
        out.addTo(R10, (int) RowDescriptor.TOTAL, RAX);
        if (shim.exact()) {
            out.mov(RCX, RAX);
            out.sub(RCX, RSP, CHILDREN_AT);
            clock.atLeastNothing(RCX);
            out.addTo(R10, (int) RowDescriptor.SELF, RCX);
            CallerAssembler.add(out, R11, RAX);
        }
        out.cmp(RAX, R10, (int) RowDescriptor.MIN);
        out.jump(BELOW, less);
        out.bind(minDone);
        out.cmp(RAX, R10, (int) RowDescriptor.MAX);
        out.jump(ABOVE, more);
        out.bind(maxDone);
        leave();

        out.bind(nested);
        RowAssembler.addNested(out, R10, RAX, RCX, nestedDone);
        out.bind(less);
        replace(BELOW, (int) RowDescriptor.MIN);
        out.jump(minDone);
        out.bind(more);
        replace(ABOVE, (int) RowDescriptor.MAX);
        out.jump(maxDone);

        out.bind(slowRecord);
        if (shim.exact()) {
            out.load(RCX, RSP, CHILDREN_AT);
            out.store(RSP, BEFORE, RCX);
        }
        recordMeasured();
    }

    /// Passes RAX ticks to the shim, because its own reading would include the way there.
    private void recordMeasured() {
        out.store(RSP, START, RAX);
        if (!shim.exact()) {
            clock.tellEnd(RSP, 0);
        }
        out.bitSet(RSP, INSIDE, Long.numberOfTrailingZeros(CallDescriptor.MEASURED));
        continueSlow();
    }

    private void sampledExit(Label slow) {
        Label measured = new Label();
        findCall(slow);
        clock.elapsedWithoutShim(RSP, 0, R10, EXIT_SAVED - 7 * Long.BYTES, RCX);
        clock.takeOffReading();
        // Before the shim gets the duration in place of the start.
        findSlow(slow);
        // Calls with callers or weights are recorded by the shim.
        out.cmp(RSP, INSIDE, 0);
        out.jump(LESS, measured);
        out.cmpInt(R11, (int) FunctionDescriptor.REMAINING, 0);
        out.jump(GREATER, measured);
        recordInRow();
        out.bind(measured);
        recordMeasured();

        out.bind(slow);
        continueSlow();
    }

    /// R10 thread, R11 function. Jumps to `slow` without a thread, or if the thread is of a forked process, or
    /// records nothing. Changes RCX and RDX.
    private void findCall(Label slow) {
        clock.requireAgent(RDX, slow);
        findThread(slow);
        out.load(RCX, RSP, BEFORE);
        out.cmp(RCX, R10, (int) ThreadDescriptor.BORN);
        out.jump(BELOW, slow);
        out.testByte(RSP, FLAGS_BYTE, FLAGS);
        out.jump(NOT_EQUAL, slow);
        out.load(R11, RSP, STUB_AT);
        out.load(R11, R11, FunctionStub.SITE_AT - FunctionStub.RETURN_AT);
        out.load(R11, R11, (int) SiteDescriptor.FUNCTION);
    }

    private void continueSlow() {
        restore(EXIT_SAVED, RAX, RDX, RCX, R10);
        out.load(R11, RSP, atSibling ? NEXT_AT : EXIT_R11);
        out.jumpThrough(atSibling ? siblingLiteral : exitLiteral);
    }

    /// Returns to the caller, or starts the sibling's call as if the caller had made it.
    private void leave() {
        if (!atSibling) {
            restore(EXIT_SAVED, RAX, RDX, RCX, R10);
            out.load(R11, RSP, EXIT_R11);
            dropWords();
            out.ret();
        } else {
            out.load(R11, RSP, NEXT_AT);
            out.load(R11, R11, (int) SiteDescriptor.STUB);
            out.store(RSP, NEXT_AT, R11);
            restore(EXIT_SAVED, RAX, RDX, RCX, R10);
            out.dropFromShadowStack(R11);
            out.load(R11, RSP, EXIT_R11);
            dropWords();
            out.jumpThrough(RSP, NEXT_AT - RETURN_AT);
        }
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.IN_CALL));
    }

    /// Replaces the word at `[R10 + displacement]` by RAX if RAX is `better`; changes RCX and RDX.
    private void replace(Condition better, int displacement) {
        Label done = new Label();
        out.mov(RCX, RAX);
        RowAssembler.replace(out, R10, displacement, better == BELOW ? ABOVE_OR_EQUAL : BELOW_OR_EQUAL, done);
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
