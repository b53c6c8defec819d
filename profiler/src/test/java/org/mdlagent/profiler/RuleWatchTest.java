package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.RowBuckets;

class RuleWatchTest {
    private static final int HANDLE = 3;
    private static final double TICKS_PER_NANO = 2;

    /// By function: ticks of its calls.
    private final Map<Integer, long[]> slots = new TreeMap<>();

    private final class Program implements RuleWatch.Source {
        @Override
        public long calls(int function) {
            return FunctionDurations.calls(slots.getOrDefault(function, new long[1]));
        }

        @Override
        public void addDurations(int function, long[] into) {
            long[] own = slots.getOrDefault(function, new long[0]);
            for (int i = 0; i < own.length; i++) {
                into[i] += own[i];
            }
        }
    }

    private void call(int function, long times, long nanos) {
        long[] own = slots.computeIfAbsent(function, unused -> new long[RowBuckets.SLOTS]);
        own[RowBuckets.index((long) (nanos * TICKS_PER_NANO))] += times;
    }

    private RuleWatch watch(String rule) {
        RuleWatch watch = new RuleWatch(Rule.parse(rule), new Program(), TICKS_PER_NANO);
        watch.add(HANDLE);
        return watch;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            p99(handle) > 5ms        | P99   | handle  | true  | 5000000
            p99.9( app!h* )>1.5us    | P999  | app!h*  | true  | 1500
            rate(f(int, char)) < 100 | RATE  | f(int, char) | false | 100
            calls(reload) > 0        | CALLS | reload  | true  | 0
            max(ns::f) > 2s          | MAX   | ns::f   | true  | 2000000000
            """)
    void shouldParse(String text, Rule.Measure measure, String function, boolean above, double bound) {
        Rule rule = Rule.parse(text);

        assertThat(rule.measure()).isEqualTo(measure);
        assertThat(rule.function()).isEqualTo(function);
        assertThat(rule.above()).isEqualTo(above);
        assertThat(rule.bound()).isEqualTo(bound);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "p99(handle)",
                "p98(f) > 1ms",
                "p99(f) > 5",
                "rate(f) > 5ms",
                "p99() > 5ms",
                "p99(f) >= 5ms",
                "p99(f) > -1ms",
                "p99(f) > 5h",
                "p9990(f) > 5ms"
            })
    void shouldRefuseOtherText(String text) {
        assertThatThrownBy(() -> Rule.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldHoldWhereThePercentileOfTheWindowIsAbove() {
        call(HANDLE, 1000, 20_000_000); // from before
        RuleWatch watch = watch("p99(handle) > 5ms");

        call(HANDLE, 1000, 1_000_000);
        call(HANDLE, 10, 50_000_000);
        assertThat(watch.look(1)).isFalse();
        call(HANDLE, 1000, 1_000_000);
        call(HANDLE, 11, 50_000_000);
        assertThat(watch.look(1)).isTrue();
        call(HANDLE, 1000, 1_000_000);
        assertThat(watch.look(1)).isFalse();
    }

    @Test
    void shouldNotHoldWithFewerCallsThanAPercentileNeeds() {
        RuleWatch watch = watch("p99(handle) > 5ms");

        call(HANDLE, 99, 50_000_000);
        assertThat(watch.look(1)).isFalse();
        call(HANDLE, 100, 50_000_000);
        assertThat(watch.look(1)).isTrue();
        assertThat(watch("p99(handle) < 5ms").look(1)).isFalse();
    }

    @Test
    void shouldCompareRatesOfWindowsAndCallsSinceTheBegin() {
        call(HANDLE, 500, 10);
        RuleWatch rate = watch("rate(handle) > 100");
        RuleWatch calls = watch("calls(handle) > 149");
        RuleWatch quiet = watch("rate(handle) < 1");

        call(HANDLE, 150, 10);
        assertThat(rate.look(2)).isFalse();
        assertThat(calls.look(1)).isTrue();
        assertThat(quiet.look(1)).isFalse();
        call(HANDLE, 150, 10);
        assertThat(rate.look(1)).isTrue();
        assertThat(quiet.look(1)).isFalse();
        assertThat(quiet.look(1)).isTrue();
    }

    @Test
    void shouldTakeTheCallsOfAllItsFunctionsTogether() {
        RuleWatch watch = watch("mean(h*) > 2us");
        watch.add(4);
        watch.add(4);

        call(HANDLE, 10, 1000);
        call(4, 10, 2000);
        assertThat(watch.look(1)).isFalse();
        call(HANDLE, 10, 1000);
        call(4, 10, 4000);
        assertThat(watch.look(1)).isTrue();
        call(4, 1, 9_000_000);
        assertThat(watch("max(h*) > 8ms").look(1)).isFalse();
    }
}
