package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Interpreter;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Optimiser;
import org.mdlagent.arch.snippet.PositionTable;
import org.mdlagent.arch.snippet.RandomSnippets;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// Random snippets, executed and interpreted: the values have to be the same, and the registers those from before.
class SnippetExecutionTest {
    private static final int CASES = 2000;
    private static final int CODE_BYTES = 1 << 20;
    private static final MethodHandle RUN = Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid());

    private static final Set<Register> FREE_AT_HOOKS =
            EnumSet.of(Register.RCX, Register.RDX, Register.RSI, Register.R8, Register.R9);
    private static final List<Register> ARGUMENTS =
            List.of(Register.RDI, Register.RSI, Register.RDX, Register.RCX, Register.R8, Register.R9);
    private static final int REGISTERS = 16;
    private static final int STACK_WORDS = 64;

    /// Of the words below the stack pointer, those of the code that leads to snippets.
    private static final int WORDS_OF_OTHERS = 3;

    private static final int WORDS_OF_CALL = (int) CallDescriptor.SIZE / Long.BYTES;

    private static final Arena ARENA = Arena.global();
    private static final CodeMemory CODE = new CodeMemory(Harness.API);

    private final SplittableRandom random = new SplittableRandom(20_261_121);
    private final long before = ARENA.allocate(8L * REGISTERS, 8).address();
    private final long after = ARENA.allocate(8L * REGISTERS, 8).address();
    private final long own = ARENA.allocate(8L * REGISTERS, 8).address();
    private final long stack = ARENA.allocate(8L * STACK_WORDS, 16).address();
    private final long values = ARENA.allocate(8L * (RandomSnippets.VALUES + 1 + Statement.Discover.SIZE), 8)
            .address();
    private final long data = ARENA.allocate(8L * 4, 8).address();
    private final Map<Long, Long> memory = new HashMap<>();
    private long code;

    @BeforeEach
    void allocate() throws Exception {
        code = CODE.allocateNear(Harness.API.session(), Harness.API.session(), CODE_BYTES);
        for (int i = 0; i < 4; i++) {
            long word = random.nextLong() | 0x8080_8080L;
            Memory.putLong(data + 8L * i, word);
            memory.put(data + 8L * i, word);
        }
    }

    @AfterEach
    void shouldHaveUsedNothingElse() {
        assertThat(memory)
                .allSatisfy(
                        (address, word) -> assertThat(Memory.getLong(address)).isEqualTo(word));
    }

    @ParameterizedTest
    @EnumSource
    void shouldDoWhatSnippetsSay(Body body) {
        for (Set<Optimisation> optimisations : List.of(Optimisation.all(), Set.<Optimisation>of())) {
            RandomSnippets snippets = snippets(body);
            int refused = 0;
            int changed = 0;
            for (int i = 0; i < CASES; i++) {
                Snippet first = snippets.next();
                List<Snippet> chain = List.of(first, snippets.next(), first);
                byte[] bytes;
                try {
                    bytes = compile(chain, place(body), bodyAt(), optimisations);
                } catch (IllegalArgumentException e) {
                    assertThat(e).hasMessageFindingMatch("registers|read by address");
                    refused++;
                    continue;
                }
                changed += check(chain, body, bytes, chain) ? 1 : 0;
            }
            assertThat(changed).as("cases in which a value changed").isGreaterThan(CASES / 2);
            assertThat(refused).isLessThan(CASES / 10);
        }
    }

    /// The broken twin: code of snippets that do something else.
    @Test
    void shouldCatchCodeOfAnotherSnippet() {
        RandomSnippets snippets = snippets(Body.FUNCTION_ENTRY);
        int caught = 0;
        for (int i = 0; i < 100; i++) {
            Snippet right = Snippet.of(new Statement.Store(1 + i % 12, new Constant(random.nextLong())));
            Snippet wrong = Snippet.of(new Statement.Store(1 + i % 12, new Constant(random.nextLong())));
            byte[] bytes =
                    compile(List.of(snippets.next(), wrong), place(Body.FUNCTION_ENTRY), bodyAt(), Optimisation.all());
            try {
                check(List.of(right), Body.FUNCTION_ENTRY, bytes, List.of());
            } catch (AssertionError e) {
                caught++;
            }
        }
        assertThat(caught).isEqualTo(100);
    }

    /// The broken twin: code for a hook, where registers are free, in a whole function.
    @Test
    void shouldCatchRegisterThatIsNotBroughtBack() {
        Snippet product = Snippet.of(new Statement.Store(1, new Divide(new Value(2), new Value(3), 4)));
        byte[] bytes = compile(List.of(product), place(Body.ENTRY), bodyAt(), Optimisation.all());

        int caught = 0;
        for (int i = 0; i < 100; i++) {
            try {
                check(List.of(product), Body.FUNCTION_ENTRY, bytes, List.of(product));
            } catch (AssertionError e) {
                caught++;
            }
        }
        assertThat(caught).isGreaterThan(90);
    }

    @Test
    void shouldNoteEachNumberOnceAsLongAsThereIsRoom() {
        int table = 2;
        byte[] note = assemble(new Statement.Discover(table, new Value(1)));
        long behind = values + 8L * (table + Statement.Discover.SIZE);
        for (int i = 0; i < table + Statement.Discover.SIZE; i++) {
            Memory.putLong(values + 8L * i, 0);
        }
        Memory.putLong(behind, 42);
        setRegisters();
        Set<Long> numbers = new HashSet<>();
        while (numbers.size() < 20) {
            long number = 0x5500_0000_0000L + 8L * random.nextInt(1 << 20);
            numbers.add(number);
            note(note, number);
            note(note, 0);
            note(note, number);
        }
        assertThat(noted(table)).containsExactlyInAnyOrderElementsOf(numbers);
        for (int i = 0; i < 10_000; i++) {
            long number = random.nextLong();
            numbers.add(number);
            note(note, number);
        }
        assertThat(noted(table)).doesNotHaveDuplicates().hasSize(Statement.Discover.SIZE);
        assertThat(numbers).containsAll(noted(table));
        assertThat(Memory.getLong(behind)).isEqualTo(42);
    }

    private void note(byte[] code, long number) {
        Memory.putLong(values + 8, number);
        run(code);
    }

    private List<Long> noted(int table) {
        return IntStream.range(table, table + Statement.Discover.SIZE)
                .mapToObj(i -> Memory.getLong(values + 8L * i))
                .filter(number -> number != 0)
                .toList();
    }

    @Test
    void shouldMeasureTimeBetweenStartAndStop() {
        for (Statement.Clock clock : Statement.Clock.values()) {
            byte[] start = assemble(new Statement.Start(1, clock));
            byte[] stop = assemble(new Statement.Stop(1, clock));
            for (int i = 0; i <= RandomSnippets.VALUES; i++) {
                Memory.putLong(values + 8L * i, 0);
            }
            setRegisters();
            run(stop);
            assertThat(values()).containsOnly(0);
            long from = System.nanoTime();
            run(start);
            run(start);
            run(stop);
            assertThat(values()[3]).as("a timer that runs").isZero();
            spin(20_000_000);
            run(stop);
            long nanos = System.nanoTime() - from;
            assertThat(values()[1]).isZero();
            if (clock == Statement.Clock.THREAD_CPU) {
                assertThat(values()[3]).isBetween(1_000_000L, nanos);
            } else {
                // Ticks: the counter of no processor that has one is slower than 0.5 GHz, or faster than 6.
                assertThat(values()[3]).isBetween(20_000_000L / 2, nanos * 6);
            }
        }
    }

    /// So long, and until this thread has had a processor for some of it.
    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        long enough = cpuNanos() + nanos / 10;
        while (System.nanoTime() < end || cpuNanos() < enough) {
            Thread.onSpinWait();
        }
    }

    /// Nanoseconds for which this thread has had a processor.
    private static long cpuNanos() {
        try {
            return Long.parseLong(
                    Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ")[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] compile(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations) {
        return new X86SnippetCompiler().compile(new Optimiser(optimisations).optimise(chain), place, at, optimisations);
    }

    private byte[] assemble(Statement... statements) {
        return compile(List.of(Snippet.of(statements)), place(Body.FUNCTION_ENTRY), bodyAt(), Optimisation.all());
    }

    private RandomSnippets snippets(Body body) {
        return new RandomSnippets(
                random, body, new long[] {table(false), table(true)}, data, data + 8, data + 16, data + 24);
    }

    /// Of the numbers that have a position.
    private static long table(boolean direct) {
        PositionTable table =
                new PositionTable(bytes -> ARENA.allocate(bytes, 8).address(), direct);
        for (int i = 0; i < RandomSnippets.KNOWN.size(); i++) {
            table.add(RandomSnippets.KNOWN.get(i), RandomSnippets.POSITION * (i + 1L));
        }
        return table.of(new Constant(0)).table();
    }

    /// Runs the code and compares; whether any value has changed.
    private boolean check(List<Snippet> chain, Body body, byte[] bytes, List<Snippet> shown) {
        long[] registers = setRegisters();
        long[] words = new long[STACK_WORDS];
        for (int i = 0; i < STACK_WORDS; i++) {
            words[i] = random.nextLong();
            Memory.putLong(stack + 8L * i, words[i]);
        }
        long[] expected = new long[RandomSnippets.VALUES + 1];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = i >= 16 ? random.nextInt(2) : number();
            Memory.putLong(values + 8L * i, expected[i]);
        }
        long[] old = expected.clone();
        long returnAddress = setReturnAddress(body, registers, words);
        run(bytes);

        long[] arguments =
                ARGUMENTS.stream().mapToLong(each -> registers[each.ordinal()]).toArray();
        long result = registers[Register.RAX.ordinal()];
        Interpreter interpreter =
                new Interpreter(expected, arguments, result, returnAddress, memory, RandomSnippets::callee);
        chain.forEach(interpreter::run);
        assertThat(withoutTimes(values())).as("values after %s", shown).isEqualTo(withoutTimes(expected));
        assertThat(differing(registers, body)).as("registers after %s", shown).isEmpty();
        long[] now = new long[STACK_WORDS];
        Memory.copy(stack, now);
        int first = STACK_WORDS / 2 - WORDS_OF_OTHERS;
        assertThat(Arrays.copyOfRange(now, first, STACK_WORDS))
                .as("the stack after %s", shown)
                .isEqualTo(Arrays.copyOfRange(words, first, STACK_WORDS));
        return !Arrays.equals(withoutTimes(old), withoutTimes(expected));
    }

    /// Where it is known: at a function's entry and return behind the words of the call, at a hook in the second
    /// argument.
    private long setReturnAddress(Body body, long[] registers, long[] words) {
        return switch (body) {
            case FUNCTION_ENTRY -> words[STACK_WORDS / 2 + 1 + WORDS_OF_CALL];
            case FUNCTION_EXIT -> words[STACK_WORDS / 2 + WORDS_OF_CALL];
            case ENTRY, EXIT, COUNT -> registers[Register.RSI.ordinal()];
        };
    }

    private long[] setRegisters() {
        long[] registers = new long[REGISTERS];
        for (int i = 0; i < REGISTERS; i++) {
            registers[i] = number();
        }
        registers[Register.RSP.ordinal()] = stack + 8L * STACK_WORDS / 2;
        registers[Register.R11.ordinal()] = values;
        for (int i = 0; i < REGISTERS; i++) {
            Memory.putLong(before + 8L * i, registers[i]);
        }
        return registers;
    }

    private long number() {
        return random.nextBoolean() ? random.nextInt(-3, 10) : random.nextLong();
    }

    private long[] values() {
        long[] now = new long[RandomSnippets.VALUES + 1];
        Memory.copy(values, now);
        return now;
    }

    /// The first word of a timer counts; the others are times.
    private static long[] withoutTimes(long[] values) {
        long[] counted = values.clone();
        for (int timer = 16; timer < RandomSnippets.VALUES; timer += 3) {
            counted[timer + 1] = 0;
            counted[timer + 2] = 0;
        }
        return counted;
    }

    private List<Register> differing(long[] registers, Body body) {
        List<Register> differing = new ArrayList<>();
        boolean hook = body == Body.ENTRY || body == Body.EXIT;
        for (Register register : Register.values()) {
            if (!(hook && FREE_AT_HOOKS.contains(register))
                    && Memory.getLong(after + 8L * register.ordinal()) != registers[register.ordinal()]) {
                differing.add(register);
            }
        }
        return differing;
    }

    // A function that loads all registers from `before` and jumps to the snippets; they end at a gate, which stores all
    // to `after` and returns.

    private static final int BODY_AT = 4096;
    private static final int GATE_AT = 1024;
    private static final int CALL_AT = 2048;
    private static final List<Register> KEPT =
            List.of(Register.RBX, Register.RBP, Register.R12, Register.R13, Register.R14, Register.R15, Register.RSP);

    private SnippetPlace place(Body body) {
        return new SnippetPlace(body, gate(), callAt());
    }

    private long callAt() {
        return code + CALL_AT;
    }

    private long bodyAt() {
        return code + BODY_AT;
    }

    private long gate() {
        return code + GATE_AT;
    }

    private void run(byte[] bytes) {
        Memory.put(CODE.alias(bodyAt()), bytes);
        Memory.put(CODE.alias(code), entry());
        Memory.put(CODE.alias(gate()), exit());
        Memory.put(CODE.alias(callAt()), caller());
        try {
            RUN.invokeExact(MemorySegment.ofAddress(code));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private byte[] entry() {
        Assembler out = new Assembler(code);
        out.mov(Register.RAX, own);
        for (Register register : KEPT) {
            out.store(Register.RAX, 8 * register.ordinal(), register);
        }
        out.mov(Register.RAX, before);
        for (Register register : Register.values()) {
            if (register != Register.RAX) {
                out.load(register, Register.RAX, 8 * register.ordinal());
            }
        }
        out.load(Register.RAX, Register.RAX, 0);
        out.jump(bodyAt());
        return out.toBytes();
    }

    /// What is below the stack pointer there is dead but for the words of others.
    private byte[] exit() {
        Assembler out = new Assembler(gate());
        int below = -8 * (WORDS_OF_OTHERS + 1);
        out.store(Register.RSP, below, Register.RAX);
        out.mov(Register.RAX, after);
        for (Register register : Register.values()) {
            if (register != Register.RAX) {
                out.store(Register.RAX, 8 * register.ordinal(), register);
            }
        }
        out.load(Register.RCX, Register.RSP, below);
        out.store(Register.RAX, 0, Register.RCX);
        out.mov(Register.RAX, own);
        for (Register register : KEPT) {
            out.load(register, Register.RAX, 8 * register.ordinal());
        }
        out.ret();
        return out.toBytes();
    }

    /// [RandomSnippets#callee] in machine code, called as `calls.S` is: the function in RDX, where to go on in RAX,
    /// arguments from 128 bytes below the stack pointer on. It leaves nothing where they were.
    private byte[] caller() {
        Assembler out = new Assembler(callAt());
        Assembler.Label end = new Assembler.Label();
        for (int function = 0; function < RandomSnippets.FUNCTIONS - 1; function++) {
            Assembler.Label next = new Assembler.Label();
            out.cmp(Register.RDX, function);
            out.jump(Condition.NOT_EQUAL, next);
            for (int i = 0; i < function; i++) {
                out.multiplyBy(Register.RDX, Register.RDX, 3);
                out.add(Register.RDX, Register.RSP, 8 * i - 128);
            }
            out.jump(end);
            out.bind(next);
        }
        out.store(Register.RSP, -128, Register.RAX);
        out.movInt(Register.RAX, 0);
        out.test(Register.RAX);
        out.jumpThrough(Register.RSP, -128);
        out.bind(end);
        out.store(Register.RSP, -128, Register.RAX);
        for (int i = 1; i < ARGUMENTS.size(); i++) {
            out.store(Register.RSP, 8 * i - 128, Register.RSP);
        }
        out.mov(Register.RAX, Register.RDX);
        out.mov(Register.RDX, Register.RSP);
        out.cmp(Register.RSP, 0);
        out.jumpThrough(Register.RSP, -128);
        return out.toBytes();
    }
}
