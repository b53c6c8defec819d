package org.mdlagent.callpatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteInstruction.Form;

/// Real sites, executed: a function's result tells where its site has led.
class CallPatchTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final MethodHandle CALL =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT));

    private static final int NOTHING = 0;
    private static final int ORIGINAL = 1;
    private static final int BODY = 41;
    private static final int OTHER_BODY = 42;

    private static final Set<Form> TRANSFERS = EnumSet.range(Form.CALL, Form.JUMP_INDIRECT);

    private static final int LINE = 64;
    private static final int SLOT = 4 * LINE;
    private static final int SITES = TRANSFERS.size() * LINE;

    /// What happened to the code, in order.
    private final List<String> log = new ArrayList<>();

    private final CodeMemory code = new CodeMemory(API);
    private final CodeArena arena = new CodeArena(code, 1 << 20);
    private final SiteSwitch siteSwitch = new SiteSwitch(API);
    private final CoreSync sync = new LoggedSync();
    private final Arena memory = Arena.ofConfined();

    private long text;
    private long original;
    private long originalSlot;
    private long body;
    private long otherBody;
    private long stubs;
    private long records;

    private final class LoggedSync implements CoreSync {
        private final CoreSync sync = new Membarrier(API);

        @Override
        public long ticket() {
            return sync.ticket();
        }

        @Override
        public boolean isPast(long ticket) {
            return sync.isPast(ticket);
        }

        @Override
        public void await(long ticket) {
            log.add("sync");
            sync.await(ticket);
        }
    }

    private record Site(SiteInstruction hook, long function, long stub, PatchPlan plan) {}

    @BeforeEach
    void map() throws IOException {
        text = code.allocateNear(API.session(), API.session(), (SITES + 1) * SLOT);
        byte[] traps = new byte[(SITES + 1) * SLOT];
        Arrays.fill(traps, (byte) 0xCC);
        Memory.put(code.alias(text), traps);
        original = functionReturning(ORIGINAL);
        originalSlot = arena.allocate(text, Long.BYTES);
        Memory.putLong(code.alias(originalSlot), original);
        body = functionReturning(BODY);
        otherBody = functionReturning(OTHER_BODY);
        int stubSize = InstructionSet.host().stubs().hookStubSize();
        stubs = arena.allocate(text, SITES * stubSize);
        records = API.allocate(SITES * SiteDescriptor.SIZE);
        Memory.putLong(API.session() + HeaderDescriptor.SITES, records);
        Memory.putInt(API.session() + HeaderDescriptor.SITE_CAPACITY, SITES);
        Memory.putIntRelease(API.session() + HeaderDescriptor.SITE_COUNT, SITES);
    }

    @AfterEach
    void close() {
        Memory.putIntRelease(API.session() + HeaderDescriptor.SITE_COUNT, 0);
        memory.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 64})
    void shouldLeadToStubOrNowhereOrElsewhereAtEveryOffset(int unit) throws Exception {
        InstructionSet instructions = InstructionSet.ofAtomicUnit(unit);
        CallPatch callPatch = new CallPatch(API, code, arena, sync, instructions);
        List<Site> sites = prepare(callPatch, instructions);
        assertThat(sites).hasSize(5 * 64);
        assertAll(sites, ORIGINAL, "before");

        callPatch.install(sites.stream().map(Site::plan).toList());

        assertThat(log).as("whatever the number of sites").containsExactly("sync", "sync");
        assertAll(sites, NOTHING, "installed");
        toggleAll(true);
        assertAll(sites, BODY, "on");
        sites.forEach(site -> callPatch.retarget(site.stub, otherBody));
        assertAll(sites, OTHER_BODY, "retargeted");
        toggleAll(false);
        assertAll(sites, NOTHING, "off");
        sites.forEach(site -> callPatch.retarget(site.stub, body));
        assertAll(sites, NOTHING, "retargeted while off");
        toggleAll(true);
        assertAll(sites, BODY, "on again");
        assertThat(log).as("toggled without a sync").hasSize(2);
    }

    /// A patcher that stops for good after any of its stores leaves a site that executes as before, or does
    /// nothing.
    @ParameterizedTest
    @ValueSource(ints = {8, 64})
    void shouldLeaveSiteRightAfterEachStoreOfInstallation(int unit) throws Exception {
        InstructionSet instructions = InstructionSet.ofAtomicUnit(unit);
        List<Site> sites = new ArrayList<>();
        int[] steps = new int[1];
        CodeWriter writer = new CodeWriter() {
            @Override
            public void store(long alias, long value, int size) {
                API.store(alias, value, size);
                for (Site site : sites) {
                    if (alias >= code.alias(site.hook.address()) && alias < code.alias(site.hook.address()) + 6) {
                        assertThat(valueOf(site))
                                .as("%s at %d, step %d", site.hook.form(), site.hook.address() % LINE, steps[0])
                                .isIn(allowedMidway(site));
                        steps[0]++;
                    }
                }
            }

            @Override
            public void replace(long alias, long mask, long value) {
                throw new AssertionError("no step of callpatch");
            }
        };
        CallPatch callPatch = new CallPatch(writer, code, arena, sync, instructions);
        sites.addAll(prepare(callPatch, instructions));

        callPatch.install(sites.stream().map(Site::plan).toList());

        int stores = 2 * SITES
                + sites.stream().mapToInt(site -> site.plan.tail().length).sum();
        assertThat(steps[0]).isEqualTo(stores).isGreaterThan(3 * SITES);
    }

    /// A half-made padded call is `addr32 adc $imm32,%eax` for a while (HookView): EAX is 0 before, and carry
    /// clear.
    private static Set<Integer> allowedMidway(Site site) {
        Set<Integer> allowed = new HashSet<>(Set.of(NOTHING));
        byte[] now = Memory.copy(site.hook.address(), 6);
        if (site.hook.form() == Form.CALL_INDIRECT && now[0] == 0x67 && now[1] == 0x15) {
            allowed.add(now[2] & 0xFF | (now[3] & 0xFF) << 8 | (now[4] & 0xFF) << 16 | now[5] << 24);
        }
        return allowed;
    }

    @Test
    void shouldStoreNeutralWordsThenTailsThenOffWordsWithSyncsBetween() throws Exception {
        InstructionSet instructions = InstructionSet.ofAtomicUnit(8);
        CodeWriter writer = new CodeWriter() {
            @Override
            public void store(long alias, long value, int size) {
                log.add("store " + size);
                API.store(alias, value, size);
            }

            @Override
            public void replace(long alias, long mask, long value) {
                throw new AssertionError("no step of callpatch");
            }
        };
        CallPatch callPatch = new CallPatch(writer, code, arena, sync, instructions);
        Site unsplit = prepare(callPatch, instructions, 0, Form.CALL, 0);
        Site afterOne = prepare(callPatch, instructions, 1, Form.CALL, 7);
        Site afterTwo = prepare(callPatch, instructions, 2, Form.CALL, 6);

        callPatch.install(List.of(unsplit.plan, afterOne.plan, afterTwo.plan));

        assertThat(log)
                .containsExactly(
                        "store 4", "store 4", "store 2", // neutral
                        "sync", "store 1", "store 1", "store 1", "store 1", // tails of one, none, and three bytes
                        "sync", "store 4", "store 4", "store 2"); // off
        log.clear();
        callPatch.retarget(unsplit.stub, otherBody);
        assertThat(log).containsExactly("store 4");
    }

    @Test
    @Timeout(600)
    void shouldReturnOldOrNewValueToThreadThatExecutesMeanwhile() throws Exception {
        InstructionSet instructions = InstructionSet.host();
        CallPatch callPatch = new CallPatch(API, code, arena, sync, instructions);
        int split = instructions.atomicUnit() - 1;
        Site site = prepare(callPatch, instructions, 0, Form.CALL, split);
        callPatch.install(List.of(site.plan));
        AtomicBoolean stop = new AtomicBoolean();
        Set<Integer> seen = ConcurrentHashMap.newKeySet();
        Thread executor = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                seen.add(valueOf(site));
            }
        });
        long index = memory.allocateFrom(ValueLayout.JAVA_INT, 0).address();
        for (int i = 0; i < 200_000 || seen.size() < 2; i++) {
            siteSwitch.toggle(index, 1, true);
            callPatch.retarget(site.stub, i % 2 == 0 ? otherBody : body);
            siteSwitch.toggle(index, 1, false);
        }
        stop.set(true);

        executor.join();
        assertThat(seen).isSubsetOf(NOTHING, BODY, OTHER_BODY);
    }

    @Test
    void shouldShareEmptyFunctionWithinReachAndMakeAnotherBeyond() throws Exception {
        InstructionSet instructions = InstructionSet.ofAtomicUnit(8);
        CallPatch callPatch = new CallPatch(API, code, arena, sync, instructions);
        long before = arena.usage().used();
        Site site = prepare(callPatch, instructions, 0, Form.CALL, 7);
        Site near = prepare(callPatch, instructions, 1, Form.CALL, 15);
        assertThat(arena.usage().used()).isEqualTo(before + CodeArena.ALIGNMENT);
        long function = offTarget(site);
        assertThat(offTarget(near)).isEqualTo(function);
        assertThat(Memory.getByte(function)).isEqualTo((byte) 0xC3); // ret

        long farText = code.allocateNear(1L << 36, 1L << 36, 4096);
        Memory.put(code.alias(farText + 7), new byte[] {(byte) 0xE8, 0, 0, 0, 0}); // call
        SiteInstruction farHook = new SiteInstruction(farText + 7, Form.CALL, SiteInstruction.Role.ENTRY, 0);
        PatchPlan far = callPatch.plan(farHook, farText + 1024);

        long farFunction = farText + 12 + far.off();
        assertThat(farFunction).isNotEqualTo(function);
        assertThat(Memory.getByte(farFunction)).isEqualTo((byte) 0xC3);
        assertThat(arena.usage().used()).isEqualTo(before + 2 * CodeArena.ALIGNMENT);
        assertThatThrownBy(() -> callPatch.plan(farHook, stubs))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("out of reach");
    }

    /// Target of the off word of a call whose displacement is toggled.
    private static long offTarget(Site site) {
        assertThat(site.plan.toggleAt()).as("split after one byte").isEqualTo(site.hook.address() + 1);
        return site.hook.address() + 5 + site.plan.off();
    }

    @Test
    void shouldRefuseToRetargetWhatIsNoStub() throws Exception {
        InstructionSet instructions = InstructionSet.host();
        CallPatch callPatch = new CallPatch(API, code, arena, sync, instructions);
        Site site = prepare(callPatch, instructions, 0, Form.CALL, 0);
        byte[] before = Memory.copy(text, SLOT);

        assertThatThrownBy(() -> callPatch.retarget(site.function, body))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no hook stub at 0x" + Long.toHexString(site.function));
        assertThatThrownBy(() -> callPatch.retarget(site.stub, body + (1L << 33)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("out of reach");

        assertThat(Memory.copy(text, SLOT)).isEqualTo(before);
    }

    /// One site for each form and offset in a cache line.
    private List<Site> prepare(CallPatch callPatch, InstructionSet instructions) throws IOException {
        List<Site> sites = new ArrayList<>();
        for (Form form : TRANSFERS) {
            for (int offset = 0; offset < LINE; offset++) {
                sites.add(prepare(callPatch, instructions, sites.size(), form, offset));
            }
        }
        return sites;
    }

    /// A function that returns what its site's hook returns, or 0.
    private Site prepare(CallPatch callPatch, InstructionSet instructions, int index, Form form, int offset)
            throws IOException {
        boolean jump = form == Form.JUMP || form == Form.JUMP_INDIRECT;
        long address = text + (long) index * SLOT + LINE + offset;
        byte[] prologue = jump
                ? new byte[] {0x31, (byte) 0xC0} // xor %eax,%eax
                : new byte[] {0x48, (byte) 0x83, (byte) 0xEC, 8, 0x31, (byte) 0xC0}; // sub $8,%rsp; xor %eax,%eax
        byte[] epilogue = {0x48, (byte) 0x83, (byte) 0xC4, 8, (byte) 0xC3}; // add $8,%rsp; ret
        byte[] instruction = instruction(form, address);
        Memory.put(code.alias(address - prologue.length), prologue);
        Memory.put(code.alias(address), instruction);
        if (!jump) {
            Memory.put(code.alias(address + instruction.length), epilogue);
        }
        SiteInstruction hook =
                new SiteInstruction(address, form, jump ? SiteInstruction.Role.EXIT : SiteInstruction.Role.ENTRY, 0);
        long stub = stubs + (long) index * instructions.stubs().hookStubSize();
        long record = records + index * SiteDescriptor.SIZE;
        Memory.put(code.alias(stub), instructions.stubs().hookStub(hook, new FrameKey(7, 16), record, stub, body));
        PatchPlan plan = callPatch.plan(hook, stub);
        new SiteRecordWriter(record).setToggle(code.alias(plan.toggleAt()), plan);
        return new Site(hook, address - prologue.length, stub, plan);
    }

    private byte[] instruction(Form form, long address) {
        return switch (form) {
            case CALL -> withDisplacement(address, original, 0xE8);
            case CALL_PADDED -> withDisplacement(address, original, 0x67, 0xE8);
            case CALL_INDIRECT -> withDisplacement(address, originalSlot, 0xFF, 0x15);
            case JUMP -> withDisplacement(address, original, 0xE9);
            case JUMP_INDIRECT -> withDisplacement(address, originalSlot, 0xFF, 0x25);
            case NOP, NOP_RUN, NOP_SHORT, SKIP, INSTRUCTIONS ->
                throw new IllegalArgumentException(form + " is no transfer");
        };
    }

    private static byte[] withDisplacement(long address, long target, int... opcode) {
        byte[] bytes = new byte[opcode.length + 4];
        for (int i = 0; i < opcode.length; i++) {
            bytes[i] = (byte) opcode[i];
        }
        int displacement = Math.toIntExact(target - address - bytes.length);
        for (int i = 0; i < 4; i++) {
            bytes[opcode.length + i] = (byte) (displacement >> 8 * i);
        }
        return bytes;
    }

    private long functionReturning(int value) throws IOException {
        long address = arena.allocate(text, 6);
        Memory.put(code.alias(address), new byte[] {(byte) 0xB8, (byte) value, 0, 0, 0, (byte) 0xC3}); // mov; ret
        return address;
    }

    private void toggleAll(boolean on) {
        int[] indices = new int[SITES];
        Arrays.setAll(indices, i -> i);
        long stores = siteSwitch.toggle(
                memory.allocateFrom(ValueLayout.JAVA_INT, indices).address(), SITES, on);
        assertThat(stores).isEqualTo(SITES);
    }

    private static void assertAll(List<Site> sites, int value, String state) {
        for (Site site : sites) {
            assertThat(valueOf(site))
                    .as("%s: %s at %d", state, site.hook.form(), site.hook.address() % LINE)
                    .isEqualTo(value);
        }
    }

    private static int valueOf(Site site) {
        try {
            return (int) CALL.invokeExact(MemorySegment.ofAddress(site.function));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
