package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.R8;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSI;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.List;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.Call;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.Discover;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.ForSelected;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Let;
import org.mdlagent.arch.snippet.Statement.Mark;
import org.mdlagent.arch.snippet.Statement.Run;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Stop;
import org.mdlagent.arch.snippet.Statement.Store;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// The code of a site's snippets, in sequence.
final class SnippetAssembler {
    /// 2^31 / golden ratio (Knuth, The Art of Computer Programming, vol. 3, 6.4: multiplicative hashing).
    private static final int DISCOVERY_HASH = 0x4F1BBCDD;

    private static final int DISCOVERY_SHIFT = 24;

    private final Assembler out;
    private final SnippetFrame frame;
    private final ExpressionAssembler expressions;

    SnippetAssembler(Assembler out, SnippetFrame frame, boolean direct) {
        this.out = out;
        this.frame = frame;
        expressions = new ExpressionAssembler(out, frame, direct);
    }

    /// @param fused whether registers are saved once for all snippets
    void assemble(List<Snippet> chain, boolean fused) {
        save();
        for (int i = 0; i < chain.size(); i++) {
            if (i > 0 && !fused) {
                Label next = new Label();
                bringBack();
                out.jump(next);
                out.bind(next);
                save();
            }
            run(chain.get(i).statements());
        }
        bringBack();
        out.jump(frame.place().resume());
    }

    private void save() {
        for (Register register : frame.saved()) {
            out.store(RSP, frame.savedAt(register), register);
        }
    }

    private void bringBack() {
        for (Register register : frame.saved()) {
            out.load(register, RSP, frame.savedAt(register));
        }
    }

    private void run(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement) {
                case Store(int value, Expression expression) -> store(value, expression);
                case Add(int value, Expression amount) -> add(value, amount);
                case Run(Call call) -> expressions.call(call, 0);
                case If(Expression condition, List<Statement> then) -> {
                    Label end = new Label();
                    expressions.jumpUnless(condition, 0, end);
                    run(then);
                    out.bind(end);
                }
                case Start(int timer, Clock clock) -> start(timer, clock);
                case Stop(int timer, Clock clock) -> stop(timer, clock);
                case Mark(int value, Member member) -> mark(value, member);
                case Let(int slot, Expression expression) ->
                    out.store(RSP, SnippetFrame.common(slot), expressions.compute(expression, 0));
                case Discover(int table, Expression number) -> discover(table, number);
                case ForEach forEach -> runForEach(forEach);
                case ForSelected one -> runForSelected(one);
            }
        }
    }

    private void store(int value, Expression expression) {
        if (expressions.isImmediate(expression)) {
            out.store(frame.base(value), frame.offset(value), ExpressionAssembler.immediate(expression));
        } else {
            out.store(frame.base(value), frame.offset(value), expressions.compute(expression, 0));
        }
    }

    private void add(int value, Expression amount) {
        if (!expressions.isImmediate(amount)) {
            out.addTo(frame.base(value), frame.offset(value), expressions.compute(amount, 0));
        } else if (ExpressionAssembler.immediate(amount) == 1) {
            out.increment(frame.base(value), frame.offset(value));
        } else {
            out.addTo(frame.base(value), frame.offset(value), ExpressionAssembler.immediate(amount));
        }
    }

    private void start(int timer, Clock clock) {
        Label runs = new Label();
        Register base = frame.base(timer);
        int nesting = frame.offset(timer, ValueDescriptor.TIMER_NESTING);
        out.cmp(base, nesting, 0);
        out.jump(Condition.NOT_EQUAL, runs);
        read(clock);
        out.store(base, frame.offset(timer, ValueDescriptor.TIMER_START), RAX);
        out.bind(runs);
        out.increment(base, nesting);
    }

    private void stop(int timer, Clock clock) {
        Label end = new Label();
        Register base = frame.base(timer);
        int nesting = frame.offset(timer, ValueDescriptor.TIMER_NESTING);
        out.cmp(base, nesting, 0);
        out.jump(Condition.EQUAL, end);
        out.decrement(base, nesting);
        out.jump(Condition.NOT_EQUAL, end);
        read(clock);
        out.sub(RAX, base, frame.offset(timer, ValueDescriptor.TIMER_START));
        out.addTo(base, frame.offset(timer, ValueDescriptor.TIMER_TOTAL), RAX);
        out.bind(end);
    }

    private void mark(int value, Member member) {
        Label clear = new Label();
        Label end = new Label();
        out.cmp(frame.base(value), frame.offset(value), 0);
        out.jump(Condition.EQUAL, clear);
        out.bitSet(R11, SnippetFrame.ofSet(member.set()), member.bit());
        out.jump(end);
        out.bind(clear);
        out.bitReset(R11, SnippetFrame.ofSet(member.set()), member.bit());
        out.bind(end);
    }

    /// The start of the places is hashed from the number, which is usually an address with equal low bits.
    private void discover(int table, Expression number) {
        Label end = new Label();
        Register noted = expressions.compute(number, 0);
        frame.change(RAX);
        out.multiplyBy(RAX, noted, DISCOVERY_HASH);
        out.shiftRight(RAX, DISCOVERY_SHIFT);
        out.and(RAX, Discover.STARTS - 1);
        out.leaIndexed(RAX, R11, RAX);
        for (int place = 0; place < Discover.PLACES; place++) {
            Label next = new Label();
            int at = (table + place) * Long.BYTES;
            out.cmp(noted, RAX, at);
            out.jump(Condition.EQUAL, end);
            out.cmp(RAX, at, 0);
            out.jump(Condition.NOT_EQUAL, next);
            out.store(RAX, at, noted);
            out.jump(end);
            out.bind(next);
        }
        out.bind(end);
    }

    /// For an empty set, this costs a load, a mask and a jump.
    private void runForEach(ForEach forEach) {
        Label next = new Label();
        Label end = new Label();
        frame.change(RAX);
        frame.change(RDX);
        out.load(RAX, R11, SnippetFrame.ofSet(forEach.written().set()));
        if (forEach.members() == (int) forEach.members()) {
            out.and(RAX, (int) forEach.members());
        } else {
            out.mov(RDX, forEach.members());
            out.and(RAX, RDX);
        }
        out.jump(Condition.EQUAL, end);
        out.store(RSP, SnippetFrame.SAVED_R10, R10);
        out.bind(next);
        out.bitScanForward(RDX, RAX);
        out.lea(R10, RAX, -1);
        out.and(R10, RAX);
        out.store(RSP, SnippetFrame.MEMBERS, R10);
        if (forEach.stride() != 1) {
            out.multiplyBy(RDX, RDX, forEach.stride());
        }
        out.leaIndexed(R10, R11, RDX);
        frame.begin(forEach);
        run(forEach.body());
        frame.end();
        out.load(RAX, RSP, SnippetFrame.MEMBERS);
        out.test(RAX);
        out.jump(Condition.NOT_EQUAL, next);
        out.load(R10, RSP, SnippetFrame.SAVED_R10);
        out.bind(end);
    }

    /// For any number of instances, this costs a load, a comparison and the address computation.
    private void runForSelected(ForSelected one) {
        Label end = new Label();
        frame.change(RAX);
        out.load(RAX, R11, SnippetFrame.ofSet(one.selector()));
        out.sub(RAX, one.lowest());
        out.cmp(RAX, one.count());
        out.jump(Condition.ABOVE_OR_EQUAL, end);
        out.store(RSP, SnippetFrame.SAVED_R10, R10);
        if (one.stride() != 1) {
            out.multiplyBy(RAX, RAX, one.stride());
        }
        out.leaIndexed(R10, R11, RAX);
        frame.begin(one);
        run(one.body());
        frame.end();
        out.load(R10, RSP, SnippetFrame.SAVED_R10);
        out.bind(end);
    }

    /// The time into RAX.
    private void read(Clock clock) {
        frame.change(RAX);
        frame.change(RDX);
        switch (clock) {
            case WALL -> out.readTsc();
            case THREAD_CPU -> readThreadCpu();
        }
    }

    private void readThreadCpu() {
        frame.change(RDI);
        frame.change(RSI);
        frame.change(RCX);
        frame.change(R8);
        out.mov(R8, R11);
        DurationClock.readThreadCpu(out, SnippetFrame.TIME);
        out.mov(R11, R8);
    }
}
