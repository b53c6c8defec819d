package org.mdlagent.arch.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Executable memory in pieces, in real mappings, against a model that knows what is in use.
class CodeArenaTest {
    private static final NativeApi API = Harness.API;
    private static final long SEED = 20261121;
    private static final long BLOCK = 64 * 1024;
    private static final long TWO_GIB = 1L << 31;

    private final CodeMemory code = new CodeMemory(API);

    /// Where other code is: the library's text.
    private final long near = API.images().stream()
            .filter(image -> image.path().endsWith("libmdl_harness.so"))
            .findFirst()
            .orElseThrow()
            .bias();

    @Test
    void shouldRunWhatIsWrittenThroughAlias() throws Throwable {
        CodeArena arena = new CodeArena(code, BLOCK);
        long address = arena.allocate(near, 6);
        Memory.put(code.alias(address), new byte[] {(byte) 0xB8, 42, 0, 0, 0, (byte) 0xC3}); // mov $42,%eax; ret

        int result = (int) Linker.nativeLinker()
                .downcallHandle(MemorySegment.ofAddress(address), FunctionDescriptor.of(ValueLayout.JAVA_INT))
                .invokeExact();

        assertThat(result).isEqualTo(42);
        assertThat(Memory.copy(address, 6)).isEqualTo(Memory.copy(code.alias(address), 6));
        assertThat(permissions(address)).isEqualTo("r-xp");
        assertThat(permissions(code.alias(address))).isEqualTo("rw-s");
    }

    private static String permissions(long address) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            String[] columns = line.split("[ -]", 3);
            if (Long.parseUnsignedLong(columns[0], 16) <= address && address < Long.parseUnsignedLong(columns[1], 16)) {
                return columns[2].substring(0, 4);
            }
        }
        return "unmapped";
    }

    @Test
    void shouldAgreeWithModelWhenPiecesComeAndGo() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        CodeArena arena = new CodeArena(code, 64 * BLOCK);
        TreeMap<Long, Integer> model = new TreeMap<>();
        List<Long> live = new ArrayList<>();
        long used = 0;
        for (int i = 0; i < 20_000; i++) {
            if (live.size() < 500 && random.nextBoolean() || live.isEmpty()) {
                int size = random.nextInt(1, random.nextInt(10) == 0 ? 10_000 : 100);
                long address = arena.allocate(near, near + 4096, size);
                int taken = (size + 15) / 16 * 16;
                assertThat(address % 16).isZero();
                assertThat(Math.abs(address - near)).isLessThan(TWO_GIB);
                assertThat(Math.abs(address + taken - near - 4096)).isLessThan(TWO_GIB);
                assertThat(code.alias(address + size - 1) - code.alias(address)).isEqualTo(size - 1);
                Map.Entry<Long, Integer> below = model.floorEntry(address);
                assertThat(below == null || below.getKey() + below.getValue() <= address)
                        .as("apart from the piece below, step %d", i)
                        .isTrue();
                Long above = model.higherKey(address);
                assertThat(above == null || address + taken <= above)
                        .as("apart from the piece above, step %d", i)
                        .isTrue();
                model.put(address, taken);
                live.add(address);
                used += taken;
            } else {
                long address = live.set(random.nextInt(live.size()), live.getLast());
                live.removeLast();
                arena.free(address);
                used -= model.remove(address);
            }
            assertThat(arena.usage().used()).isEqualTo(used);
        }
        assertThat(live).as("pieces at the end").isNotEmpty();
        live.forEach(arena::free);

        CodeArena.Usage usage = arena.usage();
        assertThat(usage.used()).isZero();
        assertThat(usage.largestFree())
                .as("every gap closed: blocks are whole again")
                .isEqualTo(BLOCK);
        assertThat(usage.free()).isEqualTo(usage.reserved());
    }

    @Test
    void shouldStayBoundedOverMillionRandomSteps() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        CodeArena arena = new CodeArena(code, 16 * BLOCK);
        long[] live = new long[2_000];
        int allocated = 0;
        for (int i = 0; i < 1_000_000; i++) {
            int slot = random.nextInt(live.length);
            if (live[slot] == 0) {
                live[slot] = arena.allocate(near, random.nextInt(1, 128));
                allocated++;
            } else {
                arena.free(live[slot]);
                live[slot] = 0;
            }
        }

        assertThat(allocated).isGreaterThan(450_000);
        // On average 1,000 pieces of 72 bytes are live, 72,000 bytes.
        assertThat(arena.usage().reserved()).isLessThanOrEqualTo(3 * BLOCK);
    }

    @Test
    void shouldReportFragmentation() throws IOException {
        CodeArena arena = new CodeArena(code, BLOCK);
        assertThat(arena.usage().fragmentation()).isZero();
        List<Long> pieces = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            pieces.add(arena.allocate(near, 4096));
        }
        assertThat(arena.usage()).isEqualTo(new CodeArena.Usage(BLOCK, BLOCK, 0));
        assertThat(arena.usage().fragmentation()).as("nothing is free").isZero();

        arena.free(pieces.get(3));
        assertThat(arena.usage()).isEqualTo(new CodeArena.Usage(BLOCK, 15 * 4096, 4096));
        assertThat(arena.usage().fragmentation()).as("one gap").isZero();

        arena.free(pieces.get(5));
        arena.free(pieces.get(9));
        arena.free(pieces.get(10));
        assertThat(arena.usage()).isEqualTo(new CodeArena.Usage(BLOCK, 12 * 4096, 2 * 4096));
        assertThat(arena.usage().fragmentation())
                .as("half of what is free is in the largest gap")
                .isEqualTo(0.5, within(1e-12));

        arena.free(pieces.get(4));
        assertThat(arena.usage().largestFree()).as("closed between two gaps").isEqualTo(3 * 4096);
    }

    @Test
    void shouldRefuseMoreThanItsLimit() throws IOException {
        CodeArena arena = new CodeArena(code, 2 * BLOCK);
        long first = arena.allocate(near, (int) BLOCK);
        long second = arena.allocate(near, (int) BLOCK);

        assertThatThrownBy(() -> arena.allocate(near, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("code memory is used up: 131072 of 131072 bytes");

        arena.free(second);
        assertThat(arena.allocate(near, 1)).isEqualTo(second);
        arena.free(first);
        assertThatThrownBy(() -> arena.allocate(near, (int) BLOCK + 1)).isInstanceOf(IOException.class);
    }

    @Test
    void shouldKeepFarTextsApart() throws IOException {
        CodeArena arena = new CodeArena(code, 4 * BLOCK);
        long far = near > 1L << 40 ? 1L << 36 : 1L << 46;

        long here = arena.allocate(near, 16);
        long there = arena.allocate(far, 16);

        assertThat(Math.abs(here - near)).isLessThan(TWO_GIB);
        assertThat(Math.abs(there - far)).isLessThan(TWO_GIB);
        assertThat(arena.allocate(near, 16)).isEqualTo(here + 16);
        assertThat(arena.allocate(far, 16)).isEqualTo(there + 16);
    }

    @Test
    void shouldRefuseWhatIsNoPiece() throws IOException {
        CodeArena arena = new CodeArena(code, BLOCK);
        long piece = arena.allocate(near, 64);

        assertThatThrownBy(() -> arena.free(piece + 16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Long.toHexString(piece + 16));
        arena.free(piece);
        assertThatThrownBy(() -> arena.free(piece)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> arena.allocate(near, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldServeSeveralThreadsAtOnce() throws Exception {
        CodeArena arena = new CodeArena(code, 64 * BLOCK);
        int threads = 4;
        List<Future<Long>> results = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            for (int t = 0; t < threads; t++) {
                long mark = t + 1;
                results.add(executor.submit(() -> markPieces(arena, mark)));
            }
            for (Future<Long> result : results) {
                assertThat(result.get())
                        .as("pieces whose mark another thread overwrote")
                        .isZero();
            }
        }
        assertThat(arena.usage().used()).isZero();
    }

    /// Allocates, marks, looks again, frees.
    private long markPieces(CodeArena arena, long mark) throws IOException {
        SplittableRandom random = new SplittableRandom(SEED + mark);
        long[] live = new long[200];
        long wrong = 0;
        for (int i = 0; i < 40_000; i++) {
            int slot = random.nextInt(live.length);
            if (live[slot] == 0) {
                live[slot] = arena.allocate(near, 16 * random.nextInt(1, 20));
                Memory.putLong(code.alias(live[slot]), mark);
            } else {
                wrong += Memory.getLong(code.alias(live[slot])) == mark ? 0 : 1;
                arena.free(live[slot]);
                live[slot] = 0;
            }
        }
        for (long address : live) {
            if (address != 0) {
                arena.free(address);
            }
        }
        return wrong;
    }
}
