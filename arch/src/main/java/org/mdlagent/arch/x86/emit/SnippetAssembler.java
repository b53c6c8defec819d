package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.R8;
import static org.mdlagent.arch.x86.bytes.Register.R9;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RBX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSI;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.CommonSubexpressions;
import org.mdlagent.arch.snippet.ConstantFolding;
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
import org.mdlagent.arch.snippet.Expression.Read;
import org.mdlagent.arch.snippet.Expression.Relation;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.ReturnAddress;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.Discover;
import org.mdlagent.arch.snippet.Statement.ForEach;
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
/// | -104 to -97 | members of a set that are still to come |
/// | -112 to -105 | R10, while it leads to the values of a member |
/// | -128 to -113 | common subexpressions |
///
/// Code that reads memory by address keeps R11 and R10 in the places of members and R10, and what it tells the kernel
/// in those of the time and of common subexpressions. What calls a function keeps the arguments in all of these, and
/// leaves the rest to the shim (`calls.S`).
///
/// An expression has its result in the first register of a stack of five, and may use those behind; RAX and RDX hold
/// nothing longer than for one operation.
public final class SnippetAssembler {
    private static final List<Register> STACK = List.of(RCX, RSI, R8, R9, RDI);
    private static final Set<Register> ALL = EnumSet.of(RAX, RCX, RDX, RSI, RDI, R8, R9);
    private static final Set<Register> FREE_AT_HOOKS = EnumSet.of(RCX, RDX, R8, R9);

    /// Their second argument: the call site of the function.
    private static final Register CALLER_AT_HOOKS = RSI;

    /// System V ABI, 3.2.3.
    private static final List<Register> ARGUMENTS = List.of(RDI, RSI, RDX, RCX, R8, R9);

    private static final int SAVED = -32;
    private static final int TIME = -96;
    private static final int MEMBERS = -104;
    private static final int SAVED_R10 = -112;
    private static final int COMMON = -120;
    private static final int SAVED_R11 = MEMBERS;

    /// Two `struct iovec`: where bytes go and where they come from.
    private static final int TO = TIME;

    private static final int FROM = -128;

    private static final int ARGUMENTS_OF_CALL = -128;

    /// 2^31 / golden ratio (Knuth, The Art of Computer Programming, vol. 3, 6.4: multiplicative hashing).
    private static final int DISCOVERY_HASH = 0x4F1BBCDD;

    private static final int DISCOVERY_SHIFT = 24;

    private static final int GETTID = 186;
    private static final int PROCESS_VM_READV = 310;

    private final Assembler out;
    private final SnippetPlace place;
    private final boolean direct;

    /// Those that are brought back, in the order of their places.
    private final List<Register> saved;

    /// Those that the code changes.
    private final Set<Register> used = EnumSet.noneOf(Register.class);

    /// Whether it reads [#CALLER_AT_HOOKS].
    private boolean readsCaller;

    /// What is being run for each member, if anything is.
    private @Nullable ForEach each;

    private SnippetAssembler(long at, SnippetPlace place, boolean direct, Set<Register> saved) {
        out = new Assembler(at);
        this.place = place;
        this.direct = direct;
        this.saved = List.copyOf(saved);
    }

    /// @param at where it will stand
    /// @throws IllegalArgumentException when a snippet asks for what is not known there, or for too many registers
    public static byte[] assemble(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations) {
        boolean direct = optimisations.contains(Optimisation.DIRECT_OPERANDS);
        boolean fused = optimisations.contains(Optimisation.FUSION);
        List<Snippet> better = optimise(chain, optimisations);
        SnippetAssembler trial = new SnippetAssembler(at, place, direct, Set.of());
        trial.assemble(better, fused);
        Set<Register> saved = EnumSet.copyOf(ALL);
        if (optimisations.contains(Optimisation.SAVES_ON_DEMAND)) {
            saved.retainAll(trial.used);
        }
        saved.removeAll(trial.free());
        return new SnippetAssembler(at, place, direct, saved).assemble(better, fused);
    }

    /// What the code that leads here does not need to have brought back.
    private Set<Register> free() {
        if (place.body() != Body.ENTRY && place.body() != Body.EXIT) {
            return Set.of();
        }
        Set<Register> free = EnumSet.copyOf(FREE_AT_HOOKS);
        if (place.body() == Body.ENTRY && !readsCaller) { // at an exit the recording code reads it
            free.add(CALLER_AT_HOOKS);
        }
        return free;
    }

    private static List<Snippet> optimise(List<Snippet> chain, Set<Optimisation> optimisations) {
        List<Snippet> better = chain;
        if (optimisations.contains(Optimisation.CONSTANTS)) {
            better = better.stream().map(ConstantFolding::fold).toList();
        }
        return optimisations.contains(Optimisation.COMMON_SUBEXPRESSIONS) ? CommonSubexpressions.share(better) : better;
    }

    private byte[] assemble(List<Snippet> chain, boolean fused) {
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
        out.jump(place.resume());
        return out.toBytes();
    }

    private void save() {
        for (Register register : saved) {
            out.store(RSP, savedAt(register), register);
        }
    }

    private void bringBack() {
        for (Register register : saved) {
            out.load(register, RSP, savedAt(register));
        }
    }

    private int savedAt(Register register) {
        return SAVED - saved.indexOf(register) * Long.BYTES;
    }

    // Statements.

    private void run(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement) {
                case Store(int value, Expression expression) -> store(value, expression);
                case Add(int value, Expression amount) -> add(value, amount);
                case Run(Call call) -> call(call, 0);
                case If(Expression condition, List<Statement> then) -> {
                    Label end = new Label();
                    jumpUnless(condition, 0, end);
                    run(then);
                    out.bind(end);
                }
                case Start(int timer, Clock clock) -> start(timer, clock);
                case Stop(int timer, Clock clock) -> stop(timer, clock);
                case Mark(int value, Member member) -> mark(value, member);
                case Let(int slot, Expression expression) -> out.store(RSP, common(slot), compute(expression, 0));
                case Discover(int table, Expression number) -> discover(table, number);
                case ForEach forEach -> runForEach(forEach);
            }
        }
    }

    private void store(int value, Expression expression) {
        if (isImmediate(expression)) {
            out.store(base(value), offset(value), immediate(expression));
        } else {
            out.store(base(value), offset(value), compute(expression, 0));
        }
    }

    private void add(int value, Expression amount) {
        if (!isImmediate(amount)) {
            out.addTo(base(value), offset(value), compute(amount, 0));
        } else if (immediate(amount) == 1) {
            out.increment(base(value), offset(value));
        } else {
            out.addTo(base(value), offset(value), immediate(amount));
        }
    }

    private void start(int timer, Clock clock) {
        Label runs = new Label();
        Register base = base(timer);
        int nesting = offset(timer, ValueDescriptor.TIMER_NESTING);
        out.cmp(base, nesting, 0);
        out.jump(Condition.NOT_EQUAL, runs);
        read(clock);
        out.store(base, offset(timer, ValueDescriptor.TIMER_START), RAX);
        out.bind(runs);
        out.increment(base, nesting);
    }

    private void stop(int timer, Clock clock) {
        Label end = new Label();
        Register base = base(timer);
        int nesting = offset(timer, ValueDescriptor.TIMER_NESTING);
        out.cmp(base, nesting, 0);
        out.jump(Condition.EQUAL, end);
        out.decrement(base, nesting);
        out.jump(Condition.NOT_EQUAL, end);
        read(clock);
        out.sub(RAX, base, offset(timer, ValueDescriptor.TIMER_START));
        out.addTo(base, offset(timer, ValueDescriptor.TIMER_TOTAL), RAX);
        out.bind(end);
    }

    private void mark(int value, Member member) {
        Label clear = new Label();
        Label end = new Label();
        out.cmp(base(value), offset(value), 0);
        out.jump(Condition.EQUAL, clear);
        out.bitSet(R11, ofSet(member.set()), member.bit());
        out.jump(end);
        out.bind(clear);
        out.bitReset(R11, ofSet(member.set()), member.bit());
        out.bind(end);
    }

    /// Where the places begin is hashed from the number, an address mostly: its lowest bits are all alike.
    private void discover(int table, Expression number) {
        Label end = new Label();
        Register noted = compute(number, 0);
        change(RAX);
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

    /// Where no member is in the set, this is a load, a mask and a jump.
    private void runForEach(ForEach forEach) {
        Label next = new Label();
        Label end = new Label();
        change(RAX);
        change(RDX);
        out.load(RAX, R11, ofSet(forEach.written().set()));
        if (forEach.members() == (int) forEach.members()) {
            out.and(RAX, (int) forEach.members());
        } else {
            out.mov(RDX, forEach.members());
            out.and(RAX, RDX);
        }
        out.jump(Condition.EQUAL, end);
        out.store(RSP, SAVED_R10, R10);
        out.bind(next);
        out.bitScanForward(RDX, RAX);
        out.lea(R10, RAX, -1);
        out.and(R10, RAX);
        out.store(RSP, MEMBERS, R10);
        if (forEach.stride() != 1) {
            out.multiplyBy(RDX, RDX, forEach.stride());
        }
        out.leaIndexed(R10, R11, RDX);
        each = forEach;
        run(forEach.body());
        each = null;
        out.load(RAX, RSP, MEMBERS);
        out.test(RAX);
        out.jump(Condition.NOT_EQUAL, next);
        out.load(R10, RSP, SAVED_R10);
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

    private void readThreadCpu() {
        change(RDI);
        change(RSI);
        change(RCX);
        change(R8);
        out.mov(R8, R11);
        DurationClock.readThreadCpu(out, TIME);
        out.mov(R11, R8);
    }

    // Expressions.

    /// Computes into the register that lies at `depth` on the stack, and returns it.
    private Register compute(Expression expression, int depth) {
        Register to = register(depth);
        switch (expression) {
            case Constant(long number) -> out.set(to, number);
            case Value(int index) -> out.load(to, base(index), offset(index));
            case Common(int slot) -> out.load(to, RSP, common(slot));
            case Member(int set, int bit) -> {
                out.load(to, R11, ofSet(set));
                out.shiftRight(to, bit);
                out.and(to, 1);
            }
            case Argument(int number) -> {
                require(
                        place.body() == Body.FUNCTION_ENTRY,
                        "arguments are known where a probe sees the whole function begin");
                fetch(to, ARGUMENTS.get(number));
            }
            case Result() -> {
                require(
                        place.body() == Body.FUNCTION_EXIT,
                        "results are known where a probe sees the whole function return");
                fetch(to, RAX);
            }
            case ReturnAddress() -> loadReturnAddress(to);
            case Load(long address, Expression.Width width) -> {
                out.set(to, address);
                out.load(to, to, 0, width.bytes(), width.signed());
            }
            case Read(Expression address, int errors) -> {
                require(depth == 0 && each == null, "memory is read by address once in an expression");
                read(address, errors);
            }
            case Call call -> call(call, depth);
            case Binary(Operator operator, Expression left, Expression right) -> operate(operator, left, right, depth);
            case Divide divide -> divide(divide, depth);
            case Compare compare -> computeTruth(compare, depth);
            case And and -> computeTruth(and, depth);
            case Or or -> computeTruth(or, depth);
        }
        return to;
    }

    /// Reads into the first register of the stack. The kernel says when it cannot, whatever other threads unmap
    /// meanwhile.
    private void read(Expression address, int errors) {
        Label end = new Label();
        Register to = compute(address, 0);
        STACK.forEach(this::change);
        change(RAX);
        change(RDX);
        out.store(RSP, SAVED_R10, R10);
        out.store(RSP, SAVED_R11, R11);
        out.store(RSP, FROM, to);
        out.store(RSP, FROM + Long.BYTES, Long.BYTES);
        out.lea(RSI, RSP, TO); // the bytes may overwrite their own destination, which the kernel has read by then
        out.store(RSP, TO, RSI);
        out.store(RSP, TO + Long.BYTES, Long.BYTES);
        out.movInt(RAX, GETTID);
        out.systemCall();
        out.mov(RDI, RAX);
        out.movInt(RDX, 1);
        out.lea(R10, RSP, FROM);
        out.movInt(R8, 1);
        out.movInt(R9, 0);
        out.movInt(RAX, PROCESS_VM_READV);
        out.systemCall();
        out.load(R11, RSP, SAVED_R11);
        out.load(R10, RSP, SAVED_R10);
        out.load(to, RSP, TO);
        out.cmp(RAX, Long.BYTES);
        out.jump(Condition.EQUAL, end);
        out.increment(base(errors), offset(errors));
        out.movInt(to, 0);
        out.bind(end);
    }

    /// The shim keeps every register but RAX and RDX.
    private void call(Call call, int depth) {
        Label back = new Label();
        Label end = new Label();
        Register to = register(depth);
        store(call.arguments(), depth);
        change(RAX);
        change(RDX);
        out.lea(RAX, back);
        out.mov(RDX, call.function());
        out.mov(to, place.call());
        out.jump(to);
        out.bind(back);
        out.mov(to, RAX);
        out.jump(Condition.NOT_EQUAL, end);
        out.increment(base(call.errors()), offset(call.errors()));
        out.bind(end);
    }

    /// Puts arguments in their places, first the one that needs these places itself.
    private void store(List<Expression> arguments, int depth) {
        List<Integer> order = IntStream.range(0, arguments.size())
                .boxed()
                .sorted(Comparator.comparing(number -> !needsRoom(arguments.get(number))))
                .toList();
        require(
                each == null && order.stream().skip(1).noneMatch(number -> needsRoom(arguments.get(number))),
                "of the arguments of a call one can be read by address, or be a call itself");
        for (int number : order) {
            out.store(RSP, ARGUMENTS_OF_CALL + number * Long.BYTES, compute(arguments.get(number), depth));
        }
    }

    private static boolean needsRoom(Expression expression) {
        return switch (expression) {
            case Call call -> true;
            case Read read -> true;
            case Binary binary -> needsRoom(binary.left()) || needsRoom(binary.right());
            case Divide divide -> needsRoom(divide.left()) || needsRoom(divide.right());
            case Compare compare -> needsRoom(compare.left()) || needsRoom(compare.right());
            case And(Expression left, Expression right) -> needsRoom(left) || needsRoom(right);
            case Or(Expression left, Expression right) -> needsRoom(left) || needsRoom(right);
            default -> false;
        };
    }

    private void loadReturnAddress(Register to) {
        switch (place.body()) {
            case ENTRY, EXIT -> {
                readsCaller = true;
                fetch(to, CALLER_AT_HOOKS);
            }
            case FUNCTION_ENTRY -> out.load(to, RSP, Long.BYTES); // the stub has called
            case FUNCTION_EXIT -> out.load(to, RBX, (int) FrameDescriptor.RET);
            case COUNT ->
                throw new IllegalArgumentException("behind a prologue it is not known where a call returns to");
        }
    }

    /// What the application has in `from`.
    private void fetch(Register to, Register from) {
        if (saved.contains(from)) {
            out.load(to, RSP, savedAt(from));
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
                case ADD -> out.add(to, base(index), offset(index));
                case SUBTRACT -> out.sub(to, base(index), offset(index));
                case MULTIPLY -> out.multiply(to, base(index), offset(index));
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
            case Read read -> STACK.size();
            case Call call ->
                call.arguments().stream()
                        .mapToInt(SnippetAssembler::registers)
                        .max()
                        .orElse(1);
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
        out.increment(base(divide.errors()), offset(divide.errors()));
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
            case Member(int set, int bit) -> {
                out.bitTest(R11, ofSet(set), bit);
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
                out.bitTest(R11, ofSet(set), bit);
                out.jump(Condition.BELOW, target);
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
            out.cmp(base(index), offset(index), immediate(right));
        } else if (isImmediate(right)) {
            out.cmp(compute(left, depth), immediate(right));
        } else if (direct && right instanceof Value(int index)) {
            out.cmp(compute(left, depth), base(index), offset(index));
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

    /// Offset of a set, which is the same for all members.
    private static int ofSet(int set) {
        return set * Long.BYTES;
    }

    /// What a value's [#offset] is counted from.
    private Register base(int value) {
        return each != null && each.isOwn(value) ? R10 : R11;
    }

    private int offset(int value) {
        return offset(value, 0);
    }

    /// @param word of the value, if it has several
    private int offset(int value, int word) {
        int index = each != null && each.isOwn(value)
                ? value - each.stride() * each.written().bit()
                : value;
        return (index + word) * Long.BYTES;
    }

    private static int common(int slot) {
        return COMMON - slot * Long.BYTES;
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
