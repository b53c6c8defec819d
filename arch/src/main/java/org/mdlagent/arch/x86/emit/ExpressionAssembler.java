package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.R8;
import static org.mdlagent.arch.x86.bytes.Register.R9;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSI;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Call;
import org.mdlagent.arch.snippet.Expression.Common;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Expression.Position;
import org.mdlagent.arch.snippet.Expression.Read;
import org.mdlagent.arch.snippet.Expression.Relation;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.ReturnAddress;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// The code of expressions and conditions.
///
/// An expression's result is in the first free register of a stack of five; it may use the following ones. RAX and
/// RDX hold values only within one operation.
final class ExpressionAssembler {
    /// System V ABI, 3.2.3.
    private static final List<Register> ARGUMENTS = List.of(RDI, RSI, RDX, RCX, R8, R9);

    private static final int GETTID = 186;

    private static final int PROCESS_VM_READV = 310;

    private final Assembler out;
    private final SnippetFrame frame;
    private final boolean direct;

    /// @param direct whether values and small constants are operands of the instruction that needs them
    ExpressionAssembler(Assembler out, SnippetFrame frame, boolean direct) {
        this.out = out;
        this.frame = frame;
        this.direct = direct;
    }

    /// Computes into the register at `depth` on the stack, and returns it.
    Register compute(Expression expression, int depth) {
        Register to = frame.register(depth);
        switch (expression) {
            case Constant(long number) -> out.set(to, number);
            case Value(int index) -> out.load(to, frame.base(index), frame.offset(index));
            case Common(int slot) -> out.load(to, RSP, SnippetFrame.common(slot));
            case Member(int set, int bit) -> {
                out.load(to, R11, SnippetFrame.ofSet(set));
                out.shiftRight(to, bit);
                out.and(to, 1);
            }
            case Argument(int number) -> {
                SnippetFrame.require(
                        frame.place().body() == Body.FUNCTION_ENTRY,
                        "arguments are known only where a probe sees the whole call");
                fetch(to, ARGUMENTS.get(number));
            }
            case Result() -> {
                SnippetFrame.require(
                        frame.place().body() == Body.FUNCTION_EXIT,
                        "results are known only where a probe sees the whole call");
                fetch(to, RAX);
            }
            case ReturnAddress() -> loadReturnAddress(to);
            case Load(long address, Expression.Width width) -> {
                out.set(to, address);
                out.load(to, to, 0, width.bytes(), width.signed());
            }
            case Read(Expression address, int errors) -> {
                SnippetFrame.require(depth == 0 && !frame.hasOwn(), "an expression can contain readAddress once");
                read(address, errors);
            }
            case Call call -> call(call, depth);
            case Position position -> PositionAssembler.find(out, frame, position, compute(position.number(), depth));
            case Binary(Operator operator, Expression left, Expression right) -> operate(operator, left, right, depth);
            case Divide divide -> divide(divide, depth);
            case Compare compare -> computeTruth(compare, depth);
            case And and -> computeTruth(and, depth);
            case Or or -> computeTruth(or, depth);
        }
        return to;
    }

    /// Reads into the first register of the stack. Uses a system call, which reports unmapped memory, even if
    /// other threads unmap it meanwhile.
    private void read(Expression address, int errors) {
        Label end = new Label();
        Register to = compute(address, 0);
        SnippetFrame.STACK.forEach(frame::change);
        frame.change(RAX);
        frame.change(RDX);
        out.store(RSP, SnippetFrame.SAVED_R10, R10);
        out.store(RSP, SnippetFrame.SAVED_R11, R11);
        out.store(RSP, SnippetFrame.FROM, to);
        out.store(RSP, SnippetFrame.FROM + Long.BYTES, Long.BYTES);
        out.lea(
                RSI,
                RSP,
                SnippetFrame.TO); // the bytes may overwrite their own iovec, which the kernel has read by then
        out.store(RSP, SnippetFrame.TO, RSI);
        out.store(RSP, SnippetFrame.TO + Long.BYTES, Long.BYTES);
        out.movInt(RAX, GETTID);
        out.systemCall();
        out.mov(RDI, RAX);
        out.movInt(RDX, 1);
        out.lea(R10, RSP, SnippetFrame.FROM);
        out.movInt(R8, 1);
        out.movInt(R9, 0);
        out.movInt(RAX, PROCESS_VM_READV);
        out.systemCall();
        out.load(R11, RSP, SnippetFrame.SAVED_R11);
        out.load(R10, RSP, SnippetFrame.SAVED_R10);
        out.load(to, RSP, SnippetFrame.TO);
        out.cmp(RAX, Long.BYTES);
        out.jump(Condition.EQUAL, end);
        out.increment(frame.base(errors), frame.offset(errors));
        out.movInt(to, 0);
        out.bind(end);
    }

    /// The shim preserves every register except RAX and RDX.
    void call(Call call, int depth) {
        Label back = new Label();
        Label end = new Label();
        Register to = frame.register(depth);
        store(call.arguments(), depth);
        frame.change(RAX);
        frame.change(RDX);
        out.lea(RAX, back);
        out.mov(RDX, call.function());
        out.mov(to, frame.place().call());
        out.jump(to);
        out.bind(back);
        out.mov(to, RAX);
        out.jump(Condition.NOT_EQUAL, end);
        out.increment(frame.base(call.errors()), frame.offset(call.errors()));
        out.bind(end);
    }

    /// Computes arguments into their places, first the one that needs these places itself.
    private void store(List<Expression> arguments, int depth) {
        List<Integer> order = IntStream.range(0, arguments.size())
                .boxed()
                .sorted(Comparator.comparing(number -> !ExpressionDemand.needsRoom(arguments.get(number))))
                .toList();
        SnippetFrame.require(
                !frame.hasOwn()
                        && order.stream()
                                .skip(1)
                                .noneMatch(number -> ExpressionDemand.needsRoom(arguments.get(number))),
                "only one argument of a call can be a readAddress or a call");
        for (int number : order) {
            out.store(RSP, SnippetFrame.ARGUMENTS_OF_CALL + number * Long.BYTES, compute(arguments.get(number), depth));
        }
    }

    private void loadReturnAddress(Register to) {
        switch (frame.place().body()) {
            case ENTRY, EXIT -> {
                frame.readCaller();
                fetch(to, SnippetFrame.CALLER_AT_HOOKS);
            }
            case FUNCTION_ENTRY -> out.load(to, RSP, Long.BYTES + (int) CallDescriptor.SIZE); // the stub has called
            case FUNCTION_EXIT -> out.load(to, RSP, (int) CallDescriptor.SIZE);
            case COUNT -> throw new IllegalArgumentException("behind a prologue the return address is not known");
        }
    }

    /// The application's value of `from`.
    private void fetch(Register to, Register from) {
        if (frame.saved().contains(from)) {
            out.load(to, RSP, frame.savedAt(from));
        } else {
            out.mov(to, from);
        }
    }

    private void operate(Operator operator, Expression left, Expression right, int depth) {
        Register to = frame.register(depth);
        if (isImmediate(right) && operator != Operator.MULTIPLY) {
            compute(left, depth);
            switch (operator) {
                case ADD -> out.add(to, immediate(right));
                default -> out.sub(to, immediate(right));
            }
            return;
        }
        if (direct && right instanceof Value(int index)) {
            compute(left, depth);
            switch (operator) {
                case ADD -> out.add(to, frame.base(index), frame.offset(index));
                case SUBTRACT -> out.sub(to, frame.base(index), frame.offset(index));
                case MULTIPLY -> out.multiply(to, frame.base(index), frame.offset(index));
            }
            return;
        }
        Operands operands = compute(left, right, depth);
        switch (operator) {
            case ADD -> out.add(operands.left, operands.right);
            case SUBTRACT -> out.sub(operands.left, operands.right);
            case MULTIPLY -> out.multiply(operands.left, operands.right);
        }
        move(to, operands.left);
    }

    private record Operands(Register left, Register right) {}

    /// Computes both, first the one that needs more registers.
    private Operands compute(Expression left, Expression right, int depth) {
        if (ExpressionDemand.registers(left) >= ExpressionDemand.registers(right)) {
            return new Operands(compute(left, depth), compute(right, depth + 1));
        }
        Register second = compute(right, depth);
        return new Operands(compute(left, depth + 1), second);
    }

    /// Avoids the two divisions that may trap: by 0, and by -1, whose quotient may overflow.
    private void divide(Divide divide, int depth) {
        Label zero = new Label();
        Label negated = new Label();
        Label end = new Label();
        Register to = frame.register(depth);
        Operands operands = compute(divide.left(), divide.right(), depth);
        frame.change(RAX);
        frame.change(RDX);
        out.mov(RAX, operands.left);
        out.test(operands.right);
        out.jump(Condition.EQUAL, zero);
        out.cmp(operands.right, -1);
        out.jump(Condition.EQUAL, negated);
        out.divide(operands.right);
        out.jump(end);
        out.bind(zero);
        out.increment(frame.base(divide.errors()), frame.offset(divide.errors()));
        out.movInt(RAX, 0);
        out.bind(negated);
        out.negate(RAX); // also the result of division by 0
        out.bind(end);
        out.mov(to, RAX);
    }

    private void computeTruth(Expression condition, int depth) {
        Label no = new Label();
        Label end = new Label();
        Register to = frame.register(depth);
        jumpUnless(condition, depth, no);
        out.movInt(to, 1);
        out.jump(end);
        out.bind(no);
        out.movInt(to, 0);
        out.bind(end);
    }

    // Conditions.

    void jumpUnless(Expression condition, int depth, Label target) {
        switch (condition) {
            case And(Expression left, Expression right) -> {
                jumpUnless(left, depth, target);
                jumpUnless(right, depth, target);
            }
            case Or(Expression left, Expression right) -> {
                Label holds = new Label();
                jumpIf(left, depth, holds);
                jumpUnless(right, depth, target);
                out.bind(holds);
            }
            case Member(int set, int bit) -> {
                out.bitTest(R11, SnippetFrame.ofSet(set), bit);
                out.jump(Condition.ABOVE_OR_EQUAL, target);
            }
            default -> out.jump(of(compare(condition, depth).negated()), target);
        }
    }

    private void jumpIf(Expression condition, int depth, Label target) {
        switch (condition) {
            case And(Expression left, Expression right) -> {
                Label fails = new Label();
                jumpUnless(left, depth, fails);
                jumpIf(right, depth, target);
                out.bind(fails);
            }
            case Or(Expression left, Expression right) -> {
                jumpIf(left, depth, target);
                jumpIf(right, depth, target);
            }
            case Member(int set, int bit) -> {
                out.bitTest(R11, SnippetFrame.ofSet(set), bit);
                out.jump(Condition.BELOW, target);
            }
            default -> out.jump(of(compare(condition, depth)), target);
        }
    }

    /// Sets the flags, and returns the relation to test.
    private Relation compare(Expression condition, int depth) {
        if (condition instanceof Compare(Relation relation, Expression left, Expression right)) {
            compareWith(left, right, depth);
            return relation;
        }
        compareWith(condition, new Constant(0), depth);
        return Relation.NOT_EQUAL;
    }

    private void compareWith(Expression left, Expression right, int depth) {
        if (direct && left instanceof Value(int index) && isImmediate(right)) {
            out.cmp(frame.base(index), frame.offset(index), immediate(right));
        } else if (isImmediate(right)) {
            out.cmp(compute(left, depth), immediate(right));
        } else if (direct && right instanceof Value(int index)) {
            out.cmp(compute(left, depth), frame.base(index), frame.offset(index));
        } else {
            Operands operands = compute(left, right, depth);
            out.cmp(operands.left, operands.right);
        }
    }

    private static Condition of(Relation relation) {
        return switch (relation) {
            case EQUAL -> Condition.EQUAL;
            case NOT_EQUAL -> Condition.NOT_EQUAL;
            case LESS -> Condition.LESS;
            case LESS_OR_EQUAL -> Condition.LESS_OR_EQUAL;
            case GREATER -> Condition.GREATER;
            case GREATER_OR_EQUAL -> Condition.GREATER_OR_EQUAL;
        };
    }

    // Operands.

    boolean isImmediate(Expression expression) {
        return direct && expression instanceof Constant(long number) && number == (int) number;
    }

    /// @throws ClassCastException if it is another kind
    static int immediate(Expression expression) {
        return Math.toIntExact(((Constant) expression).number());
    }

    private void move(Register to, Register from) {
        if (to != from) {
            out.mov(to, from);
        }
    }
}
