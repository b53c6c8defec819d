package org.mdlagent.fastinst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mdlagent.fastinst.ProbedFunctions.API;
import static org.mdlagent.fastinst.ProbedFunctions.HEADER;
import static org.mdlagent.fastinst.ProbedFunctions.PROBES;
import static org.mdlagent.fastinst.ProbedFunctions.address;
import static org.mdlagent.fastinst.ProbedFunctions.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.ProbeClient.Recorder;
import org.mdlagent.fastinst.ProbedFunctions.Probed;

/// Clients of real sites, executed.
class ProbeClientTest {
    private static final int CALLS = 1000;

    private static long receiver;

    /// What the client has been told: the probe, then the function.
    private static final List<Long> told = new ArrayList<>();

    private final ProbeClient client = new ProbeClient(API);

    @BeforeAll
    static void makeReceiver() throws Exception {
        receiver = Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup()
                                .findStatic(
                                        ProbeClientTest.class,
                                        "receive",
                                        MethodType.methodType(void.class, int.class, long.class)),
                        FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
                        Arena.global())
                .address();
    }

    @AfterEach
    void deactivate() {
        client.deactivate(0, 1, 2, 3, 4);
        told.clear();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRunClientAtEachProbeOfACall(Probed probed) {
        client.activate(receiver, probed.probes);

        call(probed);

        List<Long> expected = new ArrayList<>();
        for (int probe : probed.probes) {
            expected.add((long) probe);
            expected.add(address(probed));
        }
        assertThat(told).isEqualTo(expected);
        client.deactivate(probed.probes);
        call(probed);
        assertThat(told).isEqualTo(expected);
    }

    @Test
    void shouldRunClientAtTheReturnAlone() {
        client.activate(receiver, 3);

        call(Probed.WHOLE);

        assertThat(told).containsExactly(3L, address(Probed.WHOLE));
    }

    @ParameterizedTest
    @EnumSource
    void shouldCountCalls(Probed probed) {
        call(probed);
        long[] before = counts(probed);
        client.activate(Recorder.COUNT, probed.probes);

        for (int i = 0; i < CALLS; i++) {
            call(probed);
        }

        client.deactivate(probed.probes);
        call(probed);
        long[] after = counts(probed);
        for (int i = 0; i < after.length; i++) {
            assertThat(after[i] - before[i]).as("probe %d", probed.probes[i]).isEqualTo(CALLS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HOOKS", "WHOLE"})
    void shouldRecordLatenciesBesideClientsAndCounters(Probed probed) {
        client.activate(Recorder.LATENCY, probed.probes);
        long before = ProbedFunctions.recorded(probed);
        long countedBefore = client.calls(probed.probes[0]);
        call(probed);

        client.activate(receiver, probed.probes);
        call(probed);
        client.activate(Recorder.COUNT, probed.probes);
        call(probed);

        assertThat(ProbedFunctions.recorded(probed) - before).isEqualTo(3);
        assertThat(told).hasSize(2 * probed.probes.length);
        assertThat(client.calls(probed.probes[0]) - countedBefore).isEqualTo(1);
        client.deactivate(probed.probes);
        call(probed);
        assertThat(ProbedFunctions.recorded(probed) - before).isEqualTo(3);
    }

    @Test
    void shouldTellOfEveryProbe() {
        List<Probe> probes = new ArrayList<>();

        assertThat(client.discover(0, probes::add)).isEqualTo(PROBES);

        assertThat(probes).extracting(Probe::id).containsExactly(0, 1, 2, 3, 4);
        assertThat(probes)
                .extracting(Probe::kind)
                .containsExactly(
                        Probe.Kind.ENTRY, Probe.Kind.EXIT, Probe.Kind.ENTRY, Probe.Kind.EXIT, Probe.Kind.ENTRY);
        Probe whole = probes.get(2);
        assertThat(whole.name()).isEqualTo("ns::function1()");
        assertThat(whole.symbol()).isEqualTo("function1");
        assertThat(whole.image()).isEqualTo("/usr/bin/program");
        assertThat(whole.file()).isNull();
        assertThat(whole.line()).isZero();
        assertThat(whole.function()).isEqualTo(address(Probed.WHOLE));
        assertThat(client.discover(PROBES - 1, probes::add)).isEqualTo(PROBES);
        assertThat(probes).hasSize(PROBES + 1);
    }

    @Test
    void shouldRefuseWhatDoesNotExistAndChangeNothing() {
        assertThatThrownBy(() -> client.activate(receiver, 0, PROBES))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no such probe");
        assertThatThrownBy(() -> client.activate(Recorder.LATENCY, 0, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no such probe: -1");
        assertThatThrownBy(() -> client.activate(0L, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.calls(PROBES)).isInstanceOf(IllegalArgumentException.class);
        call(Probed.HOOKS);
        assertThat(told).isEmpty();
    }

    @Test
    void shouldLeaveLatenciesToTheProfilerWhereThereIsOne() {
        Memory.putInt(HEADER + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT);
        try {
            assertThatThrownBy(() -> client.activate(Recorder.LATENCY, 0, 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("profile=off");
        } finally {
            Memory.putInt(
                    HEADER + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT | HeaderDescriptor.FLAG_UNPROFILED);
        }
    }

    /// Upcalled.
    @SuppressWarnings("unused")
    private static void receive(int probe, long function) {
        told.add((long) probe);
        told.add(function);
    }

    private long[] counts(Probed probed) {
        long[] counts = new long[probed.probes.length];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = client.calls(probed.probes[i]);
        }
        return counts;
    }
}
