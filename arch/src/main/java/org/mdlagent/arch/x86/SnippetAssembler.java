package org.mdlagent.arch.x86;

import static org.mdlagent.arch.x86.Register.R11;
import static org.mdlagent.arch.x86.Register.R8;
import static org.mdlagent.arch.x86.Register.R9;
import static org.mdlagent.arch.x86.Register.RAX;
import static org.mdlagent.arch.x86.Register.RCX;
import static org.mdlagent.arch.x86.Register.RDI;
import static org.mdlagent.arch.x86.Register.RDX;
import static org.mdlagent.arch.x86.Register.RSI;
import static org.mdlagent.arch.x86.Register.RSP;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.Body;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.ConstantFolding;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Expression.Relation;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Stop;
import org.mdlagent.arch.snippet.Statement.Store;
import org.mdlagent.arch.x86.Assembler.Label;

/// The code of a site's snippets, one behind the other.
///
/// On entry: R11 the thread's values. Every other register is brought back, but for those that are free where hooks are
/// called; flags are free everywhere. The stack pointer is not moved, so code that leads here says how to unwind.
/// What lies below it, in the red zone:
///
/// | offset | |
/// | --- | --- |
/// | -24 to -1 | the code that leads here ([ClientAssembler]) |
/// | -80 to -25 | registers that are saved |
/// | -96 to -81 | the time that the kernel tells |
///
/// An expression has its result in the first register of a stack of five, and may use those behind; RAX and RDX hold
/// nothing longer than for one operation.
final class SnippetAssembler {
    private static final List<Register> STACK = List.of(RCX, RSI, R8, R9, RDI);
    private static final Set<Register> ALL = EnumSet.of(RAX, RCX, RDX, RSI, RDI, R8, R9);
    private static final Set<Register> FREE_AT_HOOKS = EnumSet.of(RCX, RDX, R8, R9);

    /// System V ABI, 3.2.3.
    private static final List<Register> ARGUMENTS = List.of(RDI, RSI, RDX, RCX, R8, R9);

    private static final int SAVED = -32;
    private static final int TIME = -96;

    private static final int CLOCK_GETTIME = 228;
    private static final int CLOCK_THREAD_CPUTIME_ID = 3;
    private static final int NANOS_PER_SECOND = 1_000_000_000;

    private final Assembler out;
    private final Body body;
    private final boolean direct;

    /// Those that are brought back, in the order of their places.
    private final List<Register> saved;

    /// Those that the code changes.
    private final Set<Register> used = EnumSet.noneOf(Register.class);

    private SnippetAssembler(long at, Body body, boolean direct, Set<Register> changed) {
        out = new Assembler(at);
        this.body = body;
        this.direct = direct;
        saved = new ArrayList<>(changed);
        if (body == Body.ENTRY || body == Body.EXIT) {
            saved.removeAll(FREE_AT_HOOKS);
        }
        if (body == Body.ENTRY) {
            saved.remove(RSI); // at an exit the recording code reads it
        }
    }

    /// @param at   where it will stand
    /// @param resume where it goes on
    /// @throws IllegalArgumentException when a snippet asks for what is not known there, or for too many registers
    static byte[] assemble(List<Snippet> chain, Body body, long at, long resume, Set<Optimisation> optimisations) {
        boolean direct = optimisations.contains(Optimisation.DIRECT_OPERANDS);
        List<Snippet> folded = optimisations.contains(Optimisation.CONSTANTS)
                ? chain.stream().map(ConstantFolding::fold).toList()
                : chain;
        Set<Register> changed = ALL;
        if (optimisations.contains(Optimisation.SAVES_ON_DEMAND)) {
            SnippetAssembler trial = new SnippetAssembler(at, body, direct, Set.of());
            trial.assemble(folded, resume);
            changed = trial.used;
        }
        return new SnippetAssembler(at, body, direct, changed).assemble(folded, resume);
    }

    private byte[] assemble(List<Snippet> chain, long resume) {
        for (Register register : saved) {
            out.store(RSP, place(register), register);
        }
        for (Snippet snippet : chain) {
            run(snippet.statements());
        }
        for (Register register : saved) {
            out.load(register, RSP, place(register));
        }
        out.jump(resume);
        return out.toBytes();
    }

    private int place(Register register) {
        return SAVED - saved.indexOf(register) * Long.BYTES;
    }

    // Statements.

    private void run(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement) {
                case Store(int value, Expression expression) -> store(value, expression);
                case Add(int value, Expression amount) -> add(value, amount);
                case If(Expression condition, List<Statement> then) -> {
                    Label end = new Label();
                    jumpUnless(condition, 0, end);
                    run(then);
                    out.bind(end);
                }
                case Start(int timer, Clock clock) -> start(timer, clock);
                case Stop(int timer, Clock clock) -> stop(timer, clock);
            }
        }
    }

    private void store(int value, Expression expression) {
        if (isImmediate(expression)) {
            out.store(R11, offset(value), immediate(expression));
        } else {
            out.store(R11, offset(value), compute(expression, 0));
        }
    }

    private void add(int value, Expression amount) {
        if (!isImmediate(amount)) {
            out.addTo(R11, offset(value), compute(amount, 0));
        } else if (immediate(amount) == 1) {
            out.increment(R11, offset(value));
        } else {
            out.addTo(R11, offset(value), immediate(amount));
        }
    }

    private void start(int timer, Clock clock) {
        Label runs = new Label();
        int nesting = offset(timer + ValueDescriptor.TIMER_NESTING);
        out.cmp(R11, nesting, 0);
        out.jump(Condition.NOT_EQUAL, runs);
        read(clock);
        out.store(R11, offset(timer + ValueDescriptor.TIMER_START), RAX);
        out.bind(runs);
        out.increment(R11, nesting);
    }

    private void stop(int timer, Clock clock) {
        Label end = new Label();
        int nesting = offset(timer + ValueDescriptor.TIMER_NESTING);
        out.cmp(R11, nesting, 0);
        out.jump(Condition.EQUAL, end);
        out.decrement(R11, nesting);
        out.jump(Condition.NOT_EQUAL, end);
        read(clock);
        out.sub(RAX, R11, offset(timer + ValueDescriptor.TIMER_START));
        out.addTo(R11, offset(timer + ValueDescriptor.TIMER_TOTAL), RAX);
        out.bind(end);
    }

    /// The time into RAX.
    private void read(Clock clock) {
        change(RAX);
        change(RDX);
        switch (clock) {
            case WALL -> out.readTsc();
            case THREAD_CPU -> readThreadCpu();
        }
    }

    /// The kernel keeps what lies below the stack pointer, and changes no vector registers that programs see.
    private void readThreadCpu() {
        change(RDI);
        change(RSI);
        change(RCX);
        change(R8);
        out.mov(R8, R11);
        out.movInt(RDI, CLOCK_THREAD_CPUTIME_ID);
        out.lea(RSI, RSP, TIME);
        out.movInt(RAX, CLOCK_GETTIME);
        out.systemCall();
        out.mov(R11, R8);
        out.movInt(RAX, NANOS_PER_SECOND);
        out.multiply(RAX, RSP, TIME);
        out.add(RAX, RSP, TIME + Long.BYTES);
    }

    // Expressions.

    /// Computes into the register that lies at `depth` on the stack, and returns it.
    private Register compute(Expression expression, int depth) {
        Register to = register(depth);
        switch (expression) {
            case Constant(long number) -> out.set(to, number);
            case Value(int index) -> out.load(to, R11, offset(index));
            case Argument(int number) -> {
                require(body == Body.FUNCTION_ENTRY, "arguments are known where a probe sees the whole function begin");
                fetch(to, ARGUMENTS.get(number));
            }
            case Result() -> {
                require(body == Body.FUNCTION_EXIT, "results are known where a probe sees the whole function return");
                fetch(to, RAX);
            }
            case Load(long address, Expression.Width width) -> {
                out.set(to, address);
                out.load(to, to, 0, width.bytes(), width.signed());
            }
            case Binary(Operator operator, Expression left, Expression right) -> operate(operator, left, right, depth);
            case Divide divide -> divide(divide, depth);
            case Compare compare -> computeTruth(compare, depth);
            case And and -> computeTruth(and, depth);
            case Or or -> computeTruth(or, depth);
        }
        return to;
    }

    /// What the application has in `from`.
    private void fetch(Register to, Register from) {
        if (saved.contains(from)) {
            out.load(to, RSP, place(from));
        } else {
            out.mov(to, from);
        }
    }

    private void operate(Operator operator, Expression left, Expression right, int depth) {
        Register to = register(depth);
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
                case ADD -> out.add(to, R11, offset(index));
                case SUBTRACT -> out.sub(to, R11, offset(index));
                case MULTIPLY -> out.multiply(to, R11, offset(index));
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
        if (registers(left) >= registers(right)) {
            return new Operands(compute(left, depth), compute(right, depth + 1));
        }
        Register second = compute(right, depth);
        return new Operands(compute(left, depth + 1), second);
    }

    /// How many registers of the stack an expression takes (Sethi and Ullman, "The Generation of Optimal Code for
    /// Arithmetic Expressions", 1970).
    private static int registers(Expression expression) {
        return switch (expression) {
            case Binary binary -> registers(binary.left(), binary.right());
            case Divide divide -> registers(divide.left(), divide.right());
            case Compare compare -> registers(compare.left(), compare.right());
            case And(Expression left, Expression right) -> Math.max(registers(left), registers(right));
            case Or(Expression left, Expression right) -> Math.max(registers(left), registers(right));
            default -> 1;
        };
    }

    private static int registers(Expression left, Expression right) {
        int first = registers(left);
        int second = registers(right);
        return first == second ? first + 1 : Math.max(first, second);
    }

    /// The two cases in which the processor would trap have no division: that by 0, and that by -1, whose quotient may
    /// not fit.
    private void divide(Divide divide, int depth) {
        Label zero = new Label();
        Label negated = new Label();
        Label end = new Label();
        Register to = register(depth);
        Operands operands = compute(divide.left(), divide.right(), depth);
        change(RAX);
        change(RDX);
        out.mov(RAX, operands.left);
        out.test(operands.right);
        out.jump(Condition.EQUAL, zero);
        out.cmp(operands.right, -1);
        out.jump(Condition.EQUAL, negated);
        out.divide(operands.right);
        out.jump(end);
        out.bind(zero);
        out.increment(R11, offset(divide.errors()));
        out.movInt(RAX, 0);
        out.bind(negated);
        out.negate(RAX); // also what division by 0 gives
        out.bind(end);
        out.mov(to, RAX);
    }

    private void computeTruth(Expression condition, int depth) {
        Label no = new Label();
        Label end = new Label();
        Register to = register(depth);
        jumpUnless(condition, depth, no);
        out.movInt(to, 1);
        out.jump(end);
        out.bind(no);
        out.movInt(to, 0);
        out.bind(end);
    }

    // Conditions.

    private void jumpUnless(Expression condition, int depth, Label target) {
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
            default -> out.jump(of(compare(condition, depth)), target);
        }
    }

    /// Sets the flags, and returns the relation that holds when the condition does.
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
            out.cmp(R11, offset(index), immediate(right));
        } else if (isImmediate(right)) {
            out.cmp(compute(left, depth), immediate(right));
        } else if (direct && right instanceof Value(int index)) {
            out.cmp(compute(left, depth), R11, offset(index));
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

    private boolean isImmediate(Expression expression) {
        return direct && expression instanceof Constant(long number) && number == (int) number;
    }

    /// @throws ClassCastException when it is none
    private static int immediate(Expression expression) {
        return Math.toIntExact(((Constant) expression).number());
    }

    private Register register(int depth) {
        require(depth < STACK.size(), "an expression needs more than " + STACK.size() + " registers");
        return change(STACK.get(depth));
    }

    private Register change(Register register) {
        used.add(register);
        return register;
    }

    private void move(Register to, Register from) {
        if (to != from) {
            out.mov(to, from);
        }
    }

    private static int offset(int value) {
        return value * Long.BYTES;
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
