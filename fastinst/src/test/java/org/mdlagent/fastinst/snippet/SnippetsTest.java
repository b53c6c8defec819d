package org.mdlagent.fastinst.snippet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mdlagent.fastinst.ProbedFunctions.API;
import static org.mdlagent.fastinst.ProbedFunctions.HEADER;
import static org.mdlagent.fastinst.ProbedFunctions.PROBES;
import static org.mdlagent.fastinst.ProbedFunctions.RESULT;
import static org.mdlagent.fastinst.ProbedFunctions.call;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.ReturnAddress;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.PositionTable;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Stop;
import org.mdlagent.arch.snippet.Statement.Store;
import org.mdlagent.fastinst.ProbeClient;
import org.mdlagent.fastinst.ProbeClient.Recorder;
import org.mdlagent.fastinst.ProbedFunctions;
import org.mdlagent.fastinst.ProbedFunctions.Probed;
import org.mdlagent.fastinst.snippet.Snippets.Order;

/// Snippets at real sites, executed.
class SnippetsTest {
    private static final int CALLS = 1000;
    private static final Expression ONE = new Constant(1);

    /// A session has one, whose values are its own.
    private static final Snippets SNIPPETS =
            new Snippets(API, ProbedFunctions.INSTRUCTIONS, ProbedFunctions.CODE, API.recordingEntryPoints(true));

    private final Snippets snippets = SNIPPETS;
    private final Values values = snippets.values();
    private final ProbeClient client = new ProbeClient(API);

    @AfterEach
    void collect() throws Exception {
        detachAll();
        snippets.collect();
    }

    @ParameterizedTest
    @EnumSource
    void shouldCountAtEachProbe(Probed probed) throws Exception {
        List<Integer> counters = new ArrayList<>();
        for (int probe : probed.probes) {
            int counter = values.counter();
            counters.add(counter);
            snippets.attach(probe, Order.APPEND, Snippet.of(new Add(counter, ONE)));
        }
        for (int i = 0; i < CALLS; i++) {
            call(probed);
        }
        detachAll();
        call(probed);

        assertThat(counters)
                .allSatisfy(counter -> assertThat(values.sum(counter)).isEqualTo(CALLS));
    }

    @Test
    void shouldSeeArgumentsAndResultOfWholeFunction() throws Exception {
        int sum = values.counter();
        int second = values.counter();
        int result = values.counter();
        snippets.attach(2, Order.APPEND, Snippet.of(new Add(sum, new Argument(0)), new Store(second, new Argument(1))));
        snippets.attach(3, Order.APPEND, Snippet.of(new Add(result, new Result())));

        for (int i = 0; i < CALLS; i++) {
            call(Probed.WHOLE, i, -7);
        }
        detachAll();

        assertThat(values.sum(sum)).isEqualTo(CALLS * (CALLS - 1) / 2);
        assertThat(values.sum(second)).isEqualTo(-7);
        // The upper half of the register is not part of an int: these functions leave it 0.
        assertThat(values.sum(result)).isEqualTo((long) CALLS * RESULT);
    }

    @Test
    void shouldRunSnippetsInTheirOrder() throws Exception {
        int value = values.counter();
        snippets.attach(2, Order.APPEND, set(value, 2));
        snippets.attach(2, Order.PREPEND, set(value, 1));
        call(Probed.WHOLE);
        assertThat(values.sum(value)).isEqualTo(2);

        snippets.attach(2, Order.APPEND, set(value, 3));
        call(Probed.WHOLE);
        assertThat(values.sum(value)).isEqualTo(3);
        assertThat(snippets.at(2)).containsExactly(set(value, 1), set(value, 2), set(value, 3));

        snippets.detach(2, set(value, 3));
        snippets.detach(2, set(value, 2));
        call(Probed.WHOLE);
        detachAll();
        assertThat(values.sum(value)).isEqualTo(1);
    }

    /// The paper's first example: a flag while `foo` runs guards a counter elsewhere.
    @Test
    void shouldRunConstrainedSnippetOnlyWhileFlagIsSet() throws Exception {
        int flag = values.flag();
        int counter = values.counter();
        Snippet count = Snippet.of(new Add(counter, ONE)).constrained(flag);
        snippets.attach(4, Order.APPEND, count);
        snippets.attach(1, Order.APPEND, set(flag, 0));
        snippets.attach(0, Order.PREPEND, set(flag, 1));

        call(Probed.COUNTED);
        call(Probed.HOOKS);
        call(Probed.COUNTED);
        assertThat(values.sum(counter)).isZero();
        snippets.detach(1, set(flag, 0));
        call(Probed.HOOKS);
        call(Probed.COUNTED);
        detachAll();

        assertThat(values.sum(counter)).isEqualTo(1);
    }

    @Test
    void shouldCountForEachMemberThatIsInTheSet() throws Exception {
        int set = values.flag();
        int first = values.counters(Long.SIZE);
        for (int i = 0; i < Long.SIZE; i++) {
            snippets.attach(2, Order.APPEND, countMember(set, i, first + i));
        }
        call(Probed.WHOLE);
        snippets.attach(2, Order.PREPEND, set(set, 0b1000_0101));
        call(Probed.WHOLE);
        snippets.detach(2, countMember(set, 2, first + 2));
        call(Probed.WHOLE);
        detachAll();

        List<Long> counted = IntStream.range(0, Long.SIZE)
                .mapToObj(i -> values.sum(first + i))
                .toList();
        assertThat(counted.subList(0, 8)).containsExactly(2L, 0L, 1L, 0L, 0L, 0L, 0L, 2L);
        assertThat(counted.subList(8, Long.SIZE)).containsOnly(0L);
    }

    private static Snippet countMember(int set, int bit, int counter) {
        return Snippet.of(new Add(counter, ONE)).constrained(new Member(set, bit));
    }

    /// As many instances as there may be, found by their numbers or by a hash: each counts its own calls in each
    /// thread,
    /// calls of all others are one more, and the code has the same length for all of them.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountCallsOfEachInstanceWhateverTheirNumber(boolean direct) throws Exception {
        List<Long> bytes = new ArrayList<>();
        for (int n : new int[] {2, 10, 100, 1_000, 10_000}) {
            bytes.add(countInstances(n, direct));
        }
        // One needs no way to others. Small numbers have shorter forms.
        assertThat(bytes.getLast()).isLessThanOrEqualTo(bytes.getFirst() + 8);
    }

    /// @return length of the code
    private long countInstances(int n, boolean direct) throws Exception {
        LongUnaryOperator numbers = direct ? i -> 3 * i - 1000 : i -> 0x7F00_0000_0000L + 40 * i * i;
        PositionTable table = snippets.positions(direct);
        int selector = values.flag();
        int first = values.counters(n);
        int other = values.counter();
        snippets.collect();
        long before = snippets.codeBytes();
        snippets.together(() -> {
            for (int i = 0; i < n; i++) {
                table.add(numbers.applyAsLong(i), i + 1);
                snippets.attach(2, Order.APPEND, countSelected(selector, i + 1, first + i));
            }
            snippets.attach(2, Order.APPEND, countSelected(selector, 0, other));
            snippets.attach(2, Order.PREPEND, Snippet.of(new Store(selector, table.of(new Argument(0)))));
        });
        long bytes = snippets.codeBytes() - before;
        List<Thread> callers = new ArrayList<>();
        for (int thread = 0; thread < 3; thread++) {
            int from = thread;
            callers.add(Thread.ofPlatform().start(() -> {
                for (int i = from; i < n; i++) {
                    call(Probed.WHOLE, numbers.applyAsLong(i), 0);
                    call(Probed.WHOLE, numbers.applyAsLong(i), 0);
                    call(Probed.WHOLE, numbers.applyAsLong(i) + 1, 0);
                }
            }));
        }
        for (Thread caller : callers) {
            caller.join();
        }
        snippets.together(this::detachAll);
        snippets.collect();

        for (int i = 0; i < n; i++) {
            assertThat(values.sum(first + i)).as("instance %d of %d", i, n).isEqualTo(2L * Math.min(3, i + 1));
        }
        assertThat(values.sum(other))
                .isEqualTo(
                        IntStream.range(0, n).mapToLong(i -> Math.min(3, i + 1)).sum());
        values.release(selector);
        values.release(other);
        IntStream.range(first, first + n).forEach(values::release);
        snippets.collect();
        return bytes;
    }

    private static Snippet countSelected(int selector, int number, int counter) {
        return Snippet.of(new Add(counter, ONE))
                .constrained(
                        new Expression.Compare(Expression.Relation.EQUAL, new Value(selector), new Constant(number)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldMeasureCalls(Clock clock) throws Exception {
        int timer = values.timer(clock);
        int counter = values.counter();
        snippets.attach(3, Order.APPEND, Snippet.of(new Stop(timer, clock), new Add(counter, ONE)));
        call(Probed.WHOLE);
        snippets.attach(2, Order.APPEND, Snippet.of(new Start(timer, clock)));
        long begin = API.tsc();
        long beginNanos = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            call(Probed.WHOLE);
        }
        long elapsed = clock == Clock.WALL ? API.tsc() - begin : System.nanoTime() - beginNanos;
        detachAll();

        assertThat(values.sum(counter)).isEqualTo(CALLS + 1);
        assertThat(values.total(timer)).isBetween((long) CALLS, elapsed);
    }

    @Test
    void shouldKnowCpuTimeThatIsBeingMeasured() throws Exception {
        int timer = values.timer(Clock.THREAD_CPU);
        snippets.attach(2, Order.APPEND, Snippet.of(new Start(timer, Clock.THREAD_CPU)));
        call(Probed.WHOLE);
        long begin = System.nanoTime(); // first: reading goes on after the clock was read, and has CPU time
        long before = values.total(timer);
        long enough = cpuNanos() + 2_000_000;
        while (API.programCpuNanos() < 0 || cpuNanos() < enough) {}
        long after = values.total(timer);
        detachAll();

        assertThat(after - before).isBetween(1_000_000L, System.nanoTime() - begin);
        assertThat(values.total(timer)).isGreaterThanOrEqualTo(after);
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

    @Test
    void shouldCountWhatSnippetsCost() throws Exception {
        int counter = values.counter();
        int timer = values.timer(Clock.WALL);
        Snippet always = Snippet.of(new Add(counter, ONE));
        Snippet never = Snippet.of(new Start(timer, Clock.WALL)).constrained(values.flag());
        snippets.attach(2, Order.APPEND, always);
        long before = cost();
        call(Probed.WHOLE);
        long ofOne = cost() - before;
        // One alone may be lost in rounding.
        snippets.attach(2, Order.APPEND, never);
        snippets.attach(2, Order.APPEND, never);
        before = cost();
        call(Probed.WHOLE);
        long ofBoth = cost() - before;
        detachAll();

        assertThat(ofOne).isEqualTo(Math.round(snippets.costs().ticks(always)));
        // The tests of the flag, but not the timer.
        assertThat(ofBoth)
                .isBetween(ofOne + 1, Math.round(ofOne + snippets.costs().ticks(never)) / 2);
    }

    /// What snippets have cost all threads.
    private static long cost() {
        return depths().stream()
                .mapToLong(depth -> Memory.getLong(depth + ValueDescriptor.COST * Long.BYTES))
                .sum();
    }

    @ParameterizedTest
    @EnumSource(names = {"HOOKS", "WHOLE"})
    void shouldLeaveRecorderAndClientsAsTheyAre(Probed probed) throws Exception {
        int counter = values.counter();
        client.activate(Recorder.LATENCY, probed.probes);
        long recorded = ProbedFunctions.recorded(probed);
        long counted = client.calls(probed.probes[0]);
        snippets.attach(probed.probes[0], Order.APPEND, Snippet.of(new Add(counter, ONE)));
        call(probed);
        client.activate(Recorder.COUNT, probed.probes);
        call(probed);
        detachAll();
        call(probed);
        client.deactivate(probed.probes);
        call(probed);

        assertThat(values.sum(counter)).isEqualTo(2);
        assertThat(client.calls(probed.probes[0]) - counted).isEqualTo(2);
        assertThat(ProbedFunctions.recorded(probed) - recorded).isEqualTo(3);
    }

    @Test
    void shouldRefuseWhatIsNotKnownAndChangeNothing() throws Exception {
        int counter = values.counter();
        Snippet argument = Snippet.of(new Store(counter, new Argument(0)));
        assertThatThrownBy(() -> snippets.attach(0, Order.APPEND, argument))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("arguments");
        assertThatThrownBy(() -> snippets.attach(2, Order.APPEND, Snippet.of(new Add(counter, new Result()))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("results");
        assertThatThrownBy(() -> snippets.attach(4, Order.APPEND, Snippet.of(new Add(counter, new ReturnAddress()))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the return address is not known");
        assertThatThrownBy(() -> snippets.attach(PROBES, Order.APPEND, set(counter, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no such probe");
        assertThatThrownBy(() -> snippets.detach(0, argument)).isInstanceOf(IllegalArgumentException.class);
        assertThat(snippets.at(0)).isEmpty();
        call(Probed.HOOKS);
        assertThat(values.sum(counter)).isZero();
    }

    @Test
    void shouldMakeChangesTakeEffectTogether() throws Exception {
        int first = values.counter();
        int second = values.counter();
        snippets.together(() -> {
            snippets.attach(2, Order.APPEND, Snippet.of(new Add(first, ONE)));
            snippets.attach(3, Order.APPEND, Snippet.of(new Add(second, ONE)));
            assertThatThrownBy(() -> snippets.attach(3, Order.APPEND, Snippet.of(new Add(second, new Argument(0)))))
                    .isInstanceOf(IllegalArgumentException.class);
            snippets.attach(2, Order.APPEND, set(first, 7));
            snippets.detach(2, set(first, 7));
            call(Probed.WHOLE);
        });
        assertThat(values.sum(first)).isZero();
        assertThat(snippets.at(2)).hasSize(1);

        call(Probed.WHOLE);
        snippets.together(this::detachAll);
        call(Probed.WHOLE);

        assertThat(values.sum(first)).isEqualTo(1);
        assertThat(values.sum(second)).isEqualTo(1);
    }

    /// Or a timer would go on, whose start was there when its stop was not.
    @Test
    void shouldAttachWhatStopsATimerBeforeWhatStartsIt() throws Exception {
        int timer = values.timer(Clock.WALL);
        Snippet start = Snippet.of(new Start(timer, Clock.WALL));
        Snippet stop = Snippet.of(new Stop(timer, Clock.WALL));
        AtomicBoolean ends = new AtomicBoolean();
        AtomicLong calls = new AtomicLong();
        Thread caller = Thread.ofPlatform().start(() -> {
            while (!ends.get()) {
                call(Probed.WHOLE);
                calls.incrementAndGet();
            }
        });
        long running = 0;
        for (int i = 0; i < CALLS; i++) {
            snippets.together(() -> {
                snippets.attach(2, Order.APPEND, Snippets.Effect.BEGINS, start);
                snippets.attach(3, Order.APPEND, Snippets.Effect.ENDS, stop);
            });
            if (i % 8 == 0) {
                awaitCall(calls); // on a busy machine there would be none
            }
            snippets.detach(2, start);
            awaitCall(calls);
            running += values.sum(timer); // its first word: how many starts have not been stopped
            snippets.detach(3, stop);
            snippets.collect();
        }
        ends.set(true);
        caller.join();

        assertThat(running).isZero();
        assertThat(values.total(timer)).isPositive();
    }

    @Test
    void shouldTakeValuesSideBySideIfThereIsRoom() {
        int counters = values.counters(10);
        int timers = values.timers(Clock.WALL, 10);

        for (int i = 0; i < 10; i++) {
            assertThat(values.sum(counters + i)).isZero();
            assertThat(values.total(timers + i * ValueDescriptor.TIMER_SIZE)).isZero();
            values.release(counters + i);
            values.release(timers + i * ValueDescriptor.TIMER_SIZE);
        }
        assertThat(values.counters(ValueDescriptor.VALUES)).isZero();
    }

    @Test
    void shouldGiveFreedValuesToOthersWithNothingInThem() throws Exception {
        int counter = values.counter();
        values.retain(counter);
        snippets.attach(2, Order.APPEND, set(counter, 5));
        call(Probed.WHOLE);
        detachAll();
        values.release(counter);
        snippets.collect();
        assertThat(values.counter()).isNotEqualTo(counter);

        values.release(counter);
        assertThat(values.counter()).isNotEqualTo(counter);
        snippets.collect();

        assertThat(values.counter()).isEqualTo(counter);
        assertThat(values.ofThreads(counter)).containsOnly(0);
    }

    /// Two threads call all functions all the time: what is attached meanwhile misses nothing, and what comes and
    /// goes leaves nothing.
    @Test
    void shouldCountExactlyWhileOthersComeAndGo() throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        AtomicLong calls = new AtomicLong();
        int[] always = new int[PROBES];
        for (int probe = 0; probe < PROBES; probe++) {
            always[probe] = values.counter();
            snippets.attach(probe, Order.APPEND, Snippet.of(new Add(always[probe], ONE)));
        }
        long bytes = snippets.codeBytes();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            callers.add(Thread.ofPlatform().start(() -> {
                long own = 0;
                for (; !ends.get(); own++) {
                    for (Probed probed : Probed.values()) {
                        call(probed);
                    }
                }
                calls.addAndGet(own);
            }));
        }
        SplittableRandom random = new SplittableRandom(20_261_121);
        for (int i = 0; i < CALLS; i++) {
            int probe = random.nextInt(PROBES);
            int counter = values.counter();
            Snippet snippet = Snippet.of(new Add(counter, new Value(always[probe])));
            snippets.attach(probe, random.nextBoolean() ? Order.PREPEND : Order.APPEND, snippet);
            Thread.onSpinWait();
            snippets.detach(probe, snippet);
            values.release(counter);
            snippets.collect();
        }
        ends.set(true);
        for (Thread caller : callers) {
            caller.join();
        }
        // Once for what waited for a caller within a snippet, once for what was detached since.
        snippets.collect();
        snippets.collect();

        assertThat(calls.get()).isGreaterThan(CALLS);
        for (int counter : always) {
            assertThat(values.sum(counter)).isEqualTo(calls.get());
        }
        assertThat(snippets.codeBytes()).isEqualTo(bytes);
        detachAll();
        snippets.collect();
        assertThat(snippets.codeBytes()).isZero();
    }

    @Test
    void shouldFreeNothingWhileThreadIsInSnippet() throws Exception {
        snippets.attach(2, Order.APPEND, set(values.counter(), 1));
        call(Probed.WHOLE);
        List<Long> depths = depths();
        assertThat(depths)
                .isNotEmpty()
                .allSatisfy(depth -> assertThat(Memory.getLong(depth)).isZero());
        depths.forEach(depth -> Memory.putLong(depth, 1));
        detachAll();
        snippets.collect();
        assertThat(snippets.codeBytes()).isPositive();

        depths.forEach(depth -> Memory.putLong(depth, 0));
        snippets.collect();

        assertThat(snippets.codeBytes()).isZero();
    }

    /// Returns when a call has begun and ended since.
    private static void awaitCall(AtomicLong calls) {
        long before = calls.get();
        while (calls.get() < before + 2) {
            Thread.yield();
        }
    }

    /// Addresses of what tells how many snippets a thread is in.
    private static List<Long> depths() {
        List<Long> depths = new ArrayList<>();
        long thread = Memory.getLong(HEADER + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long values = Memory.getLong(thread + ThreadDescriptor.VALUES);
            if (values != 0) {
                depths.add(values + ValueDescriptor.DEPTH * Long.BYTES);
            }
        }
        return depths;
    }

    private static Snippet set(int value, long number) {
        return Snippet.of(new Store(value, new Constant(number)));
    }

    private void detachAll() throws IOException {
        for (int probe = 0; probe < PROBES; probe++) {
            for (Snippet snippet : snippets.at(probe)) {
                snippets.detach(probe, snippet);
            }
        }
    }
}
