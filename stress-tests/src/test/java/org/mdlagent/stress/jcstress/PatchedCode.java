package org.mdlagent.stress.jcstress;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.wordpatch.PatchResult;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.Pending;
import org.mdlagent.wordpatch.TrapMode;
import org.mdlagent.wordpatch.WordPatch;
import org.mdlagent.wordpatch.WordPatch.StartResult;

/// A few instructions that are never executed, their patcher, and a log of its stores. All waits end at once, so
/// that finishers meet at every step.
///
/// ```
///  24      26        28             30               32                35
///  neighbour         before         the straddler
///  B3 01   90 90     31 C0          B8 01       |    01 01 01          C3
/// ```
final class PatchedCode implements CodeWriter, CoreSync {
    static final NativeApi API = NativeApi.ofHarness(Path.of(System.getProperty("mdl.harness")));

    /// `mov $0x0n0n0n0n,%eax` for n = 2 and 3; it is 1 at first.
    static final long TWO = 0x02020202B8L;

    static final long THREE = 0x03030303B8L;

    /// `xor %eax,%eax` and the straddler with 3.
    static final long LONG_THREE = THREE << 16 | 0xC031;

    /// `mov $n,%bl`.
    static final long NEIGHBOUR_TWO = 0x02B3;

    static final long NEIGHBOUR_THREE = 0x03B3;

    /// More than the maximum number of live states: the product of the strides' size and count.
    private static final int PLACES = 4096;

    private static final int PLACE_BYTES = 64;
    private static final int NEIGHBOUR = 24;
    private static final int BEFORE = 28;
    private static final int STRADDLER = 30;
    private static final int BOUNDARY = 32;
    private static final long FIRST_HALF = 0x01B8_C031_9090_01B3L;
    private static final long SECOND_HALF = 0x9090_9090_C301_0101L;

    private static final InstructionSet INSTRUCTIONS = InstructionSet.ofAtomicUnit(Long.BYTES);
    private static final CodeMemory CODE = new CodeMemory(API);
    private static final CodeArena NO_COPIES = new CodeArena(CODE, 0);
    private static final TrapTable TRAPS = new TrapTable(API);
    private static final AtomicInteger NEXT_PLACE = new AtomicInteger();
    private static final long CODE_START;

    static {
        try {
            CODE_START = CODE.allocateNear(API.session(), API.session(), (long) PLACES * PLACE_BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final String[] STEP_NAMES = {"", "trap", "tail2", "front2", "tail3", "front3"};
    private static final int TRAP = 1;
    private static final int STEP_BITS = 4;

    /// Steps in the order of their stores, the first in the highest bits.
    private final AtomicLong steps = new AtomicLong();

    private final long start;
    private final long alias;
    private final WordPatch patcher = patcher(this);

    PatchedCode() {
        start = CODE_START + (long) (NEXT_PLACE.getAndIncrement() & PLACES - 1) * PLACE_BYTES;
        alias = CODE.alias(start);
        Memory.putLong(alias + BOUNDARY - Long.BYTES, FIRST_HALF);
        Memory.putLong(alias + BOUNDARY, SECOND_HALF);
    }

    /// Another, unsynchronised patcher, for exhibits.
    WordPatch patcher(CodeWriter writer) {
        // No thread is redirected, so no instruction needs a copy.
        return new WordPatch(API, writer, CODE, NO_COPIES, TRAPS, this, TrapMode.SPIN, INSTRUCTIONS);
    }

    WordPatch patcher() {
        return patcher;
    }

    PatchSite straddler(WordPatch patcher) {
        return patcher.site(start + STRADDLER, 5);
    }

    /// The straddler and the instruction before it.
    PatchSite longer(WordPatch patcher) {
        return patcher.site(start + BEFORE, 7);
    }

    /// Two bytes in the straddler's first quadword.
    PatchSite neighbour(WordPatch patcher) {
        return patcher.site(start + NEIGHBOUR, 2);
    }

    /// Starts a patch that takes several steps.
    static Pending started(WordPatch patcher, PatchSite site, long word) {
        if (patcher.start(site, word) instanceof Pending patch) {
            return patch;
        }
        throw new AssertionError("no straddler, or not free");
    }

    static String name(StartResult result) {
        return switch (result) {
            case Pending patch -> "pending";
            case PatchResult.Patched patched -> "patched";
            case PatchResult.Contended contended -> "contended";
            case PatchResult.Rejected rejected -> "rejected";
        };
    }

    static void finish(StartResult started) {
        if (started instanceof Pending patch) {
            boolean unused = patch.finish();
        }
    }

    /// The stores so far, in order.
    String steps() {
        StringBuilder names = new StringBuilder();
        long all = steps.get();
        for (int shift = Long.SIZE - STEP_BITS; shift >= 0; shift -= STEP_BITS) {
            int step = (int) (all >>> shift) & (1 << STEP_BITS) - 1;
            names.append(step == 0 || names.isEmpty() ? "" : " ").append(STEP_NAMES[step]);
        }
        return names.toString();
    }

    void storeTrap() {
        store(alias + STRADDLER, INSTRUCTIONS.relocation().trapByte(), 1);
    }

    void storeTailOfTwo() {
        replace(alias + BOUNDARY, 0xFF_FFFFL, 0x02_0202);
    }

    void storeFrontOfTwo() {
        replace(alias + BOUNDARY - Long.BYTES, 0xFFFFL << 48, 0x02B8L << 48);
    }

    private void note(int step) {
        long unused = steps.updateAndGet(before -> before << STEP_BITS | step);
    }

    @Override
    public void store(long at, long value, int size) {
        note(TRAP);
        API.store(at, value, size);
    }

    @Override
    public void replace(long at, long mask, long value) {
        API.replace(at, mask, value);
        boolean tail = at == alias + BOUNDARY;
        int number = (byte) (tail ? value : value >>> Long.SIZE - Byte.SIZE);
        note(2 * number - (tail ? 2 : 1));
    }

    @Override
    public long ticket() {
        return 0;
    }

    @Override
    public boolean isPast(long ticket) {
        return true;
    }

    @Override
    public void await(long ticket) {}
}
