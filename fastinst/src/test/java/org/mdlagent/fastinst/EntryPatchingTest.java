package org.mdlagent.fastinst;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.callpatch.SiteSwitch;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.TrapMode;
import org.mdlagent.wordpatch.WordPatch;

/// What compilers leave at entries, patched and toggled while threads execute it: what the function returns tells
/// whether its entry led to the stub or into the body.
class EntryPatchingTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final MethodHandle CALL =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT));
    private static final int BODY = 1;
    private static final int STUB = 41;
    private static final int LINE = 64;
    private static final int TOGGLES = 200_000;
    private static final int STARTED = 1_000;

    /// What stands at the entry, and bytes of it where a thread may stand.
    enum Left {
        CALL("e8 00 00 00 00", 0),
        CALL_SPLIT("e8 00 00 00 00", LINE - 1),
        CALL_INDIRECT("ff 15 00 00 00 00", 0),
        CALL_INDIRECT_SPLIT("ff 15 00 00 00 00", LINE - 1),
        NOP_5("0f 1f 44 00 08", 0),
        NOP_5_SPLIT("0f 1f 44 00 08", LINE - 1),
        NOP_8("0f 1f 84 00 00 02 00 00", 0),
        NOP_8_SPLIT("0f 1f 84 00 00 02 00 00", LINE - 1),
        XRAY("eb 09 66 0f 1f 84 00 00 02 00 00", 0),
        NOP_RUN("90 90 90 90 90", 0, 1, 2, 3, 4),
        NOP_RUN_SPLIT("90 90 90 90 90", LINE - 1, 1, 2, 3, 4),
        NOP_SHORT("90 90", 0, 1),
        NOP_SHORT_SPLIT("90 90", LINE - 1, 1);

        final byte[] bytes;
        final int offset;
        final int[] standing;

        Left(String bytes, int offset, int... standing) {
            this.bytes = HexFormat.ofDelimiter(" ").parseHex(bytes);
            this.offset = offset;
            this.standing = standing;
        }
    }

    private final CodeMemory code = new CodeMemory(API);
    private final CodeArena arena = new CodeArena(code, 1 << 20);
    private final CoreSync sync = new Membarrier(API);
    private final InstructionSet instructions = InstructionSet.host();
    private final SiteSwitch siteSwitch = new SiteSwitch(API);
    private final CallPatch callPatch = new CallPatch(API, code, arena, sync, instructions);
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong stubs = new AtomicLong();

    /// Threads that have called at least once.
    private final AtomicInteger executors = new AtomicInteger();

    @AfterEach
    void forgetSites() {
        Memory.putIntRelease(API.session() + HeaderDescriptor.SITE_COUNT, 0);
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(600)
    void shouldReachBodyOrStubWhilePatchedAndToggled(Left left) throws Exception {
        SiteInstruction site = write(left);
        CompletableFuture<Set<Integer>> fromStart = execute(site.address());
        List<CompletableFuture<Set<Integer>>> fromInside = new ArrayList<>();
        for (int at : left.standing) {
            fromInside.add(execute(site.address() + at));
        }
        while (calls.get() < STARTED || executors.get() <= left.standing.length) {
            Thread.onSpinWait();
        }

        install(site);
        try (Arena memory = Arena.ofConfined()) {
            long index = memory.allocateFrom(ValueLayout.JAVA_INT, 0).address();
            for (int i = 0; i < TOGGLES || stubs.get() < STARTED; i++) {
                assertThat(siteSwitch.toggle(index, 1, i % 2 == 0)).isEqualTo(1);
            }
            siteSwitch.toggle(index, 1, false);
            assertThat(call(site.address())).as("off").isEqualTo(BODY);
            siteSwitch.toggle(index, 1, true);
            assertThat(call(site.address())).as("on").isEqualTo(STUB);
        }
        stop.set(true);

        assertThat(fromStart.get(10, TimeUnit.MINUTES)).containsExactlyInAnyOrder(BODY, STUB);
        for (CompletableFuture<Set<Integer>> inside : fromInside) {
            assertThat(inside.get(10, TimeUnit.MINUTES)).containsExactly(BODY);
        }
    }

    /// A function that returns `BODY`, with a sled or a call of an empty hook.
    private SiteInstruction write(Left left) throws IOException {
        long text = code.allocateNear(API.session(), API.session(), 4096);
        long address = text + 2 * LINE + left.offset;
        byte[] bytes = left.bytes.clone();
        if (left.name().startsWith("CALL")) {
            long hook = arena.allocate(text, 1);
            Memory.put(code.alias(hook), instructions.sites().emptyFunction());
            long slot = arena.allocate(text, Long.BYTES);
            Memory.putLong(code.alias(slot), hook);
            int displacement = Math.toIntExact((bytes.length == 5 ? hook : slot) - (address + bytes.length));
            for (int i = 0; i < 4; i++) {
                bytes[bytes.length - 4 + i] = (byte) (displacement >> 8 * i);
            }
        }
        Memory.put(code.alias(address), bytes);
        Memory.put(code.alias(address + bytes.length), returning(BODY));
        SiteInstruction site = requireNonNull(
                instructions.sites().entrySite(address, address + 32, SiteInstruction.Role.FUNCTION, address, 5));
        assertThat(site.length()).isEqualTo(bytes.length);
        return site;
    }

    private static byte[] returning(int value) {
        return new byte[] {(byte) 0xB8, (byte) value, 0, 0, 0, (byte) 0xC3}; // mov $value,%eax; ret
    }

    private void install(SiteInstruction site) throws IOException {
        long stub = arena.allocate(site.address(), 6);
        Memory.put(code.alias(stub), returning(STUB));
        PatchPlan plan = callPatch.plan(site, hop(site, stub));
        long record = API.allocate(SiteDescriptor.SIZE);
        new SiteRecordWriter(record).setToggle(code.alias(plan.toggleAt()), plan);
        Memory.putLong(API.session() + HeaderDescriptor.SITES, record);
        Memory.putInt(API.session() + HeaderDescriptor.SITE_CAPACITY, 1);
        Memory.putIntRelease(API.session() + HeaderDescriptor.SITE_COUNT, 1);
        if (plan.rewritten().length > 0) {
            rewrite(plan);
        }
        callPatch.install(List.of(plan));
    }

    /// Where the site is to lead.
    private long hop(SiteInstruction site, long stub) throws IOException {
        long[] hops = instructions.sites().hops(site);
        for (long hop : hops) {
            if (hops.length == 1 || CodeMemory.reaches(hop, hop, stub) && code.allocateAt(hop, hop + 5)) {
                Memory.put(code.alias(hop), instructions.sites().hop(hop, stub));
                return hop;
            }
        }
        assertThat(hops).as("places without room").isEmpty();
        return stub;
    }

    private void rewrite(PatchPlan plan) {
        WordPatch wordPatch =
                new WordPatch(API, API, code, arena, new TrapTable(API), sync, TrapMode.REDIRECT, instructions);
        long word = 0;
        for (int i = 0; i < plan.length(); i++) {
            word |= (plan.rewritten()[i] & 0xFFL) << i * Byte.SIZE;
        }
        assertThat(wordPatch.patch(wordPatch.site(plan.address(), plan.length()), word))
                .isInstanceOf(PatchResult.Patched.class);
    }

    private CompletableFuture<Set<Integer>> execute(long function) {
        CompletableFuture<Set<Integer>> seen = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            Set<Integer> values = new HashSet<>();
            while (!stop.get()) {
                int value = call(function);
                if (values.isEmpty()) {
                    executors.incrementAndGet();
                }
                values.add(value);
                (value == STUB ? stubs : calls).incrementAndGet();
            }
            seen.complete(values);
        });
        return seen;
    }

    private static int call(long function) {
        try {
            return (int) CALL.invokeExact(MemorySegment.ofAddress(function));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
