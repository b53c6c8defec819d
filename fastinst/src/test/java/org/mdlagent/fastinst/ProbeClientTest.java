package org.mdlagent.fastinst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.Body;
import org.mdlagent.arch.CodeArena;
import org.mdlagent.arch.CodeMemory;
import org.mdlagent.arch.FrameKey;
import org.mdlagent.arch.HookSite;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.RecordingCode;
import org.mdlagent.arch.RecordingEntryPoints;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;

/// Clients of real sites, executed: one function that calls hooks, one that is probed as a whole, one that is
/// counted.
class ProbeClientTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final MethodHandle CALL =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT));
    private static final int CALLS = 1000;
    private static final int RESULT = 0x12345678;
    private static final int PROBES = 5;

    /// Of the instruction at a site, which is a call or a jump; off, `test $imm32,%eax` of the same length.
    private static final byte CALL_OPCODE = (byte) 0xE8;

    private static final byte JUMP_OPCODE = (byte) 0xE9;
    private static final byte OFF_OPCODE = (byte) 0xA9;

    private static long header;
    private static long[] functions;
    private static long receiver;

    /// What the client has been told: the probe, then the function.
    private static final List<Long> told = new ArrayList<>();

    private final ProbeClient client = new ProbeClient(API);

    /// The functions, and which probes each has.
    enum Probed {
        HOOKS(0, 1),
        WHOLE(2, 3),
        COUNTED(4);

        private final int[] probes;

        Probed(int... probes) {
            this.probes = probes;
        }
    }

    @BeforeAll
    static void build() throws Exception {
        header = API.session();
        Memory.putInt(header + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT | HeaderDescriptor.FLAG_UNPROFILED);
        InstructionSet instructions = InstructionSet.host();
        SessionTables tables = new SessionTables(API);
        long records = tables.allocateFunctions(Probed.values().length);
        tables.allocateSites(PROBES);
        CodeMemory code = new CodeMemory(API);
        CodeArena arena = new CodeArena(code, 1 << 20);
        RecordingEntryPoints shim = API.recordingEntryPoints(true);
        long base = aligned(arena.allocate(header, 16384));
        RecordingCode recording = instructions.recordingCode(shim, base);
        Memory.put(code.alias(base), recording.bytes());
        StubBodies bodies = new StubBodies(instructions, recording, base, code.alias(base), tables);
        long stubs = aligned(base + recording.bytes().length);
        long text = aligned(stubs + 64L * PROBES);
        functions = new long[] {text, text + 128, text + 256};
        for (int i = 0; i < functions.length; i++) {
            describeFunction(tables, records, i);
        }

        // sub $8,%rsp; movabs $function,%rdi; SITE 0; movabs $function,%rdi; SITE 1; mov $RESULT,%eax; add $8,%rsp; ret
        ByteBuffer hooks = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
        hooks.put(new byte[] {0x48, (byte) 0x83, (byte) 0xEC, 8, 0x48, (byte) 0xBF})
                .putLong(functions[0]);
        int entryAt = hooks.position();
        site(hooks, functions[0], stubs);
        hooks.put(new byte[] {0x48, (byte) 0xBF}).putLong(functions[0]);
        int exitAt = hooks.position();
        site(hooks, functions[0], stubs + 64);
        hooks.put((byte) 0xB8).putInt(RESULT).put(new byte[] {0x48, (byte) 0x83, (byte) 0xC4, 8, (byte) 0xC3});
        Memory.put(code.alias(functions[0]), hooks.array());
        hook(code, instructions, bodies, stubs, functions[0] + entryAt, Body.ENTRY);
        hook(code, instructions, bodies, stubs + 64, functions[0] + exitAt, Body.EXIT);
        describeSite(code, 0, 0, functions[0] + entryAt, stubs, SiteDescriptor.KIND_ENTRY, bodies.table(Body.ENTRY));
        describeSite(code, 1, 0, functions[0] + exitAt, stubs + 64, SiteDescriptor.KIND_EXIT, bodies.table(Body.EXIT));

        // SITE 2; mov $RESULT,%eax; ret
        Memory.put(code.alias(functions[1]), returning(functions[1], stubs + 128));
        Memory.put(
                code.alias(stubs + 128),
                instructions.functionStub(
                        site(2),
                        stubs + 128,
                        functions[1] + 5,
                        bodies.record(Body.FUNCTION_ENTRY),
                        bodies.record(Body.FUNCTION_EXIT)));
        describeSite(
                code, 2, 1, functions[1], stubs + 128, SiteDescriptor.KIND_WHOLE, bodies.table(Body.FUNCTION_ENTRY));
        describeSite(
                code, 3, 1, functions[1], stubs + 128, SiteDescriptor.KIND_RETURN, bodies.table(Body.FUNCTION_EXIT));

        // SITE 4; mov $RESULT,%eax; ret
        Memory.put(code.alias(functions[2]), returning(functions[2], stubs + 192));
        Memory.put(code.alias(stubs + 192), instructions.countStub(site(4), stubs + 192, 0, bodies.record(Body.COUNT)));
        describeSite(code, 4, 2, functions[2], stubs + 192, SiteDescriptor.KIND_COUNT, bodies.table(Body.COUNT));

        Memory.putIntRelease(header + HeaderDescriptor.SITE_COUNT, PROBES);
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
            expected.add(functions[probed.ordinal()]);
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

        assertThat(told).containsExactly(3L, functions[1]);
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
        long before = recorded(probed);
        long countedBefore = client.calls(probed.probes[0]);
        call(probed);

        client.activate(receiver, probed.probes);
        call(probed);
        client.activate(Recorder.COUNT, probed.probes);
        call(probed);

        assertThat(recorded(probed) - before).isEqualTo(3);
        assertThat(told).hasSize(2 * probed.probes.length);
        assertThat(client.calls(probed.probes[0]) - countedBefore).isEqualTo(1);
        client.deactivate(probed.probes);
        call(probed);
        assertThat(recorded(probed) - before).isEqualTo(3);
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
        assertThat(whole.function()).isEqualTo(functions[1]);
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
        Memory.putInt(header + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT);
        try {
            assertThatThrownBy(() -> client.activate(Recorder.LATENCY, 0, 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("profile=off");
        } finally {
            Memory.putInt(
                    header + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT | HeaderDescriptor.FLAG_UNPROFILED);
        }
    }

    /// Upcalled.
    @SuppressWarnings("unused")
    private static void receive(int probe, long function) {
        told.add((long) probe);
        told.add(function);
    }

    private static void call(Probed probed) {
        try {
            int result = (int) CALL.invokeExact(MemorySegment.ofAddress(functions[probed.ordinal()]));
            assertThat(result).isEqualTo(RESULT);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private long[] counts(Probed probed) {
        long[] counts = new long[probed.probes.length];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = client.calls(probed.probes[i]);
        }
        return counts;
    }

    /// Calls in the histograms of the function.
    private static long recorded(Probed probed) {
        long sum = 0;
        long thread = Memory.getLong(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long row = Memory.getLong(
                    Memory.getLong(thread + ThreadDescriptor.ROWS) + (long) probed.ordinal() * Long.BYTES);
            sum += row == 0 ? 0 : Memory.getLong(row + RowDescriptor.COUNT);
        }
        return sum;
    }

    private static long aligned(long address) {
        return address + 63 & -64;
    }

    private static void site(ByteBuffer code, long at, long stub) {
        code.put(OFF_OPCODE);
        code.putInt((int) (stub - (at + code.position() + Integer.BYTES)));
    }

    private static byte[] returning(long at, long stub) {
        ByteBuffer code = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
        site(code, at, stub);
        return code.put((byte) 0xB8).putInt(RESULT).put((byte) 0xC3).array();
    }

    private static void hook(
            CodeMemory code, InstructionSet instructions, StubBodies bodies, long stub, long at, Body body)
            throws IOException {
        HookSite.Role role = body == Body.ENTRY ? HookSite.Role.ENTRY : HookSite.Role.EXIT;
        HookSite site = new HookSite(at, HookSite.Form.CALL, role, functions[0]);
        // 16 bytes from the stack pointer at the call to the canonical frame address.
        Memory.put(
                code.alias(stub),
                instructions.hookStub(site, new FrameKey(7, 16), site(body.ordinal()), stub, bodies.record(body)));
    }

    private static void describeFunction(SessionTables tables, long records, int index) {
        long record = records + index * org.mdlagent.arch.layout.FunctionDescriptor.SIZE;
        Memory.putLong(record + org.mdlagent.arch.layout.FunctionDescriptor.ADDRESS, functions[index]);
        Memory.putInt(record + org.mdlagent.arch.layout.FunctionDescriptor.INDEX, index);
        Memory.putInt(
                record + org.mdlagent.arch.layout.FunctionDescriptor.NAME,
                tables.string("ns::function" + index + "()"));
        Memory.putInt(record + org.mdlagent.arch.layout.FunctionDescriptor.SYMBOL, tables.string("function" + index));
        for (int probe : Probed.values()[index].probes) {
            Memory.putLong(site(probe) + SiteDescriptor.FUNCTION, record);
            Memory.putInt(site(probe) + SiteDescriptor.IMAGE, tables.string("/usr/bin/program"));
        }
        tables.addLookup(functions[index], record);
    }

    private static void describeSite(
            CodeMemory code, int probe, int function, long at, long stub, byte kind, int bodies) {
        assertThat(Probed.values()[function].probes).contains(probe);
        long record = site(probe);
        boolean jumps = kind == SiteDescriptor.KIND_WHOLE || kind == SiteDescriptor.KIND_RETURN;
        Memory.putLong(record + SiteDescriptor.STORE, code.alias(at));
        Memory.putInt(record + SiteDescriptor.ON, Byte.toUnsignedInt(jumps ? JUMP_OPCODE : CALL_OPCODE));
        Memory.putInt(record + SiteDescriptor.OFF, Byte.toUnsignedInt(OFF_OPCODE));
        Memory.putByte(record + SiteDescriptor.SIZE_AT, (byte) 1);
        Memory.putByte(record + SiteDescriptor.KIND, kind);
        Memory.putInt(record + SiteDescriptor.INDEX, probe);
        Memory.putLong(record + SiteDescriptor.ADDRESS, at);
        Memory.putLong(record + SiteDescriptor.STUB, stub);
        Memory.putInt(record + SiteDescriptor.BODIES, bodies);
    }

    private static long site(int probe) {
        return Memory.getLong(header + HeaderDescriptor.SITES) + probe * SiteDescriptor.SIZE;
    }
}
