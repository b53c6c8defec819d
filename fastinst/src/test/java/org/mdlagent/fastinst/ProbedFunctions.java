package org.mdlagent.fastinst;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteKind;
import org.mdlagent.fastinst.install.SessionTables;
import org.mdlagent.fastinst.install.StubBodies;

/// Three functions with real sites, in the session of this process: one calls hooks, one is probed as a whole, one
/// is counted, and returns 0 when that has changed R11.
public final class ProbedFunctions {
    public static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final MethodHandle CALL = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    public static final int RESULT = 0x12345678;
    public static final int PROBES = 5;

    /// What is in R11 where a call is counted, and must be there behind it.
    private static final long PATTERN = 0x1122_3344_5566_7788L;

    /// Of the instruction at a site, which is a call or a jump; off, `test $imm32,%eax` of the same length.
    private static final byte CALL_OPCODE = (byte) 0xE8;

    private static final byte JUMP_OPCODE = (byte) 0xE9;
    private static final byte OFF_OPCODE = (byte) 0xA9;

    public static final InstructionSet INSTRUCTIONS = InstructionSet.host();
    public static final CodeMemory CODE = new CodeMemory(API);
    public static final long HEADER = API.session();

    private static long[] functions;

    /// The stub of the function that is probed as a whole, and its first bytes: its own, and the bytes that lead
    /// to its counter.
    private static long wholeStub;

    /// Its site's record: other tests put tables of their own in place of these.
    private static long wholeSite;

    private static long ownHead;
    private static long counterHead;

    /// The functions, and which probes each has.
    public enum Probed {
        HOOKS(0, 1),
        WHOLE(2, 3),
        COUNTED(4);

        public final int[] probes;

        Probed(int... probes) {
            this.probes = probes;
        }
    }

    static {
        try {
            build();
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private ProbedFunctions() {}

    private static void build() throws IOException {
        Memory.putInt(HEADER + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT | HeaderDescriptor.FLAG_UNPROFILED);
        SessionTables tables = new SessionTables(API);
        long records = tables.allocateFunctions(Probed.values().length);
        tables.allocateSites(PROBES);
        CodeArena arena = new CodeArena(CODE, 1 << 20);
        RecordingEntryPoints shim = API.recordingEntryPoints(true);
        long base = aligned(arena.allocate(HEADER, 16384));
        RecordingCode recording = INSTRUCTIONS.stubs().recordingCode(shim, base);
        Memory.put(CODE.alias(base), recording.bytes());
        StubBodies bodies = new StubBodies(INSTRUCTIONS, recording, base, CODE.alias(base), 0, tables);
        long stubs = aligned(base + recording.bytes().length);
        long counter = stubs + 64L * PROBES;
        long text = counter + 64;
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
        Memory.put(CODE.alias(functions[0]), hooks.array());
        hook(bodies, stubs, functions[0] + entryAt, Body.ENTRY);
        hook(bodies, stubs + 64, functions[0] + exitAt, Body.EXIT);
        describeSite(0, 0, functions[0] + entryAt, stubs, SiteKind.ENTRY, bodies);
        describeSite(1, 0, functions[0] + exitAt, stubs + 64, SiteKind.EXIT, bodies);

        // SITE 2; sub %rdi,24(%rsp); mov $RESULT,%eax; ret
        Memory.put(CODE.alias(functions[1]), returning(functions[1], stubs + 128));
        Memory.put(
                CODE.alias(stubs + 128),
                INSTRUCTIONS
                        .stubs()
                        .functionStub(
                                site(2),
                                stubs + 128,
                                functions[1] + 5,
                                bodies.record(Body.FUNCTION_ENTRY),
                                bodies.record(Body.FUNCTION_EXIT),
                                base + recording.siblingExit()));
        describeSite(2, 1, functions[1], stubs + 128, SiteKind.FUNCTION, bodies);
        wholeStub = stubs + 128;
        wholeSite = site(2);
        ownHead = Memory.getLong(CODE.alias(wholeStub));
        counterHead = INSTRUCTIONS.stubs().counterHead((int) (counter - wholeStub));
        Memory.put(
                CODE.alias(counter),
                INSTRUCTIONS.stubs().counter(counter, wholeStub, functions[1] + 5, 1, shim.tlsOffset()));
        describeSite(3, 1, functions[1], stubs + 128, SiteKind.RETURN, bodies);

        // movabs $PATTERN,%r10; mov %r10,%r11; SITE 4; mov $RESULT,%eax; cmp %r10,%r11; je 1f; xor %eax,%eax; 1: ret
        ByteBuffer counted = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
        counted.put(new byte[] {0x49, (byte) 0xBA}).putLong(PATTERN).put(new byte[] {0x4D, (byte) 0x89, (byte) 0xD3});
        int countAt = counted.position();
        site(counted, functions[2], stubs + 192);
        counted.put((byte) 0xB8).putInt(RESULT);
        counted.put(new byte[] {0x4D, 0x39, (byte) 0xD3, 0x74, 2, 0x31, (byte) 0xC0, (byte) 0xC3});
        Memory.put(CODE.alias(functions[2]), counted.array());
        Memory.put(
                CODE.alias(stubs + 192),
                INSTRUCTIONS.stubs().countStub(site(4), stubs + 192, bodies.record(Body.COUNT), 0));
        describeSite(4, 2, functions[2] + countAt, stubs + 192, SiteKind.COUNT, bodies);

        Memory.putIntRelease(HEADER + HeaderDescriptor.SITE_COUNT, PROBES);
    }

    /// Address of a function.
    public static long address(Probed probed) {
        return functions[probed.ordinal()];
    }

    public static void call(Probed probed) {
        call(probed, 0, 0);
    }

    public static void call(Probed probed, long first, long second) {
        try {
            int result = (int) CALL.invokeExact(MemorySegment.ofAddress(functions[probed.ordinal()]), first, second);
            assertThat(result).isEqualTo(RESULT);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// Switches the site of the function that is probed as a whole, for the recorder.
    static void switchWhole(boolean on) {
        Memory.putByte(wholeSite + SiteDescriptor.RECORDING, (byte) (on ? 1 : 0));
        Memory.putByte(CODE.alias(functions[1]), on ? JUMP_OPCODE : OFF_OPCODE);
    }

    /// Lets its stub lead to its counter, or begin with its own instruction.
    static void leadToCounter(boolean counting) {
        Memory.putLong(CODE.alias(wholeStub), counting ? counterHead : ownHead);
    }

    /// Calls that were counted in threads' memory.
    static long counted(Probed probed) {
        long sum = 0;
        long thread = Memory.getLong(HEADER + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long calls = Memory.getLong(thread + ThreadDescriptor.CALLS);
            sum += calls == 0 ? 0 : Memory.getLong(calls + (long) probed.ordinal() * Long.BYTES);
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
        // What the first argument takes off is when the call began.
        code.put(new byte[] {0x48, 0x29, 0x7C, 0x24, 0x18});
        return code.put((byte) 0xB8).putInt(RESULT).put((byte) 0xC3).array();
    }

    private static void hook(StubBodies bodies, long stub, long at, Body body) throws IOException {
        SiteInstruction.Role role = body == Body.ENTRY ? SiteInstruction.Role.ENTRY : SiteInstruction.Role.EXIT;
        SiteInstruction site = new SiteInstruction(at, SiteInstruction.Form.CALL, role, functions[0]);
        // 16 bytes from the stack pointer at the call to the canonical frame address.
        Memory.put(
                CODE.alias(stub),
                INSTRUCTIONS
                        .stubs()
                        .hookStub(site, new FrameKey(7, 16), site(body.ordinal()), stub, bodies.record(body)));
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

    private static void describeSite(int probe, int function, long at, long stub, SiteKind kind, StubBodies bodies) {
        assertThat(Probed.values()[function].probes).contains(probe);
        boolean jumps = kind == SiteKind.FUNCTION || kind == SiteKind.RETURN;
        int on = Byte.toUnsignedInt(jumps ? JUMP_OPCODE : CALL_OPCODE);
        int off = Byte.toUnsignedInt(OFF_OPCODE);
        SiteRecordWriter record = new SiteRecordWriter(site(probe));
        record.setToggle(CODE.alias(at), new PatchPlan(at, 1, at, 1, off, at, new byte[0], at, 1, on, off));
        record.setKind(kind);
        record.setIndex(probe);
        record.setCode(at);
        record.setStub(stub);
        bodies.open(record, kind.body());
    }

    private static long site(int probe) {
        return Memory.getLong(HEADER + HeaderDescriptor.SITES) + probe * SiteDescriptor.SIZE;
    }

    /// Calls in the histograms of the function.
    public static long recorded(Probed probed) {
        long sum = 0;
        long thread = Memory.getLong(HEADER + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long row = Memory.getLong(
                    Memory.getLong(thread + ThreadDescriptor.ROWS) + (long) probed.ordinal() * Long.BYTES);
            sum += row == 0 ? 0 : Memory.getLong(row + RowDescriptor.COUNT);
        }
        return sum;
    }
}
