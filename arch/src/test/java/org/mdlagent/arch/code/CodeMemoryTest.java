package org.mdlagent.arch.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;

/// Text, here memory that another instance has mapped, and its aliases.
class CodeMemoryTest {
    private static final NativeApi API = Harness.API;
    private static final long CHUNK = CodeMemory.CHUNK;

    private final CodeMemory code = new CodeMemory(API);
    private long text;
    private long end;

    @BeforeEach
    void mapText() throws IOException {
        CodeMemory other = new CodeMemory(API);
        long mapped = other.allocateNear(API.session(), API.session(), 9 * CHUNK);
        text = mapped + CHUNK - 1 & -CHUNK;
        end = text + 8 * CHUNK;
        for (long at = text; at < end; at += CHUNK) {
            Memory.putLong(other.alias(at), at);
        }
    }

    /// Copies chunks and lets the copies take their place.
    private TextCopy remap(long[] addresses) throws IOException {
        return show(code.copy(text, end, addresses, null));
    }

    private TextCopy show(TextCopy copy) throws IOException {
        assertThat(API.holdImages()).isTrue();
        assertThat(code.show(List.of(copy))).isEmpty();
        API.releaseImages();
        return copy;
    }

    @Test
    void shouldShowWhatWasWrittenToACopyOnlyWhenItTakesThePlaceOfTheText() throws IOException {
        TextCopy copy = code.copy(text, end, new long[] {text}, null);
        Memory.putLong(code.alias(text), 42);
        assertThat(Memory.getLong(text)).isEqualTo(text);
        assertThat(code.isShown(copy, MemoryMap.read())).isFalse();

        show(copy);

        assertThat(Memory.getLong(text)).isEqualTo(42);
        assertThat(code.isShown(copy, MemoryMap.read())).isTrue();
    }

    @Test
    void shouldNotTakeOneCopyForAnother() throws IOException {
        TextCopy first = remap(new long[] {text});
        code.forget(first);

        TextCopy second = remap(new long[] {text});

        assertThat(code.isShown(first, MemoryMap.read())).isFalse();
        assertThat(code.isShown(second, MemoryMap.read())).isTrue();
    }

    @Test
    void shouldSeeThatSomethingElseStandsInAPartOfACopy() throws IOException {
        TextCopy first = remap(new long[] {text, text + CHUNK});
        code.forget(first);

        remap(new long[] {text + CHUNK});

        assertThat(code.isShown(first, MemoryMap.read())).isFalse();
    }

    @Test
    void shouldOverwriteTheCopyOfATextThatHasGoneUnlessAnotherProcessMayHaveIt() throws IOException {
        long forks = API.session() + HeaderDescriptor.FORKS;
        TextCopy copy = remap(new long[] {text});
        long alias = code.alias(text);
        code.forget(copy);
        assertThatThrownBy(() -> code.alias(text)).isInstanceOf(IllegalArgumentException.class);

        TextCopy again = show(code.copy(text, end, new long[] {text}, copy));

        assertThat(code.alias(text)).isEqualTo(alias);
        code.forget(again);
        TextCopy other = show(code.copy(text, end, new long[] {text, text + 3 * CHUNK}, again));
        assertThat(code.alias(text)).as("other parts").isNotEqualTo(alias);
        code.forget(other);
        again = show(code.copy(text, end, new long[] {text}, again));
        assertThat(code.alias(text)).isEqualTo(alias);
        code.forget(again);
        Memory.putLong(forks, Memory.getLong(forks) + 1);
        show(code.copy(text, end, new long[] {text}, again));
        assertThat(code.alias(text)).as("a process was forked").isNotEqualTo(alias);
    }

    @Test
    void shouldRemapChunksWithAddressesOnly() throws IOException {
        remap(new long[] {text + 5, text + CHUNK + 7, text + 4 * CHUNK});

        assertThat(Memory.getLong(code.alias(text))).as("what stood there").isEqualTo(text);
        Memory.putLong(code.alias(text + CHUNK), 0x1122334455667788L);
        assertThat(Memory.getLong(text + CHUNK)).as("seen in the text").isEqualTo(0x1122334455667788L);
        assertThat(code.alias(text + CHUNK) - code.alias(text))
                .as("neighbours are one mapping")
                .isEqualTo(CHUNK);
        for (long without : new long[] {text - 1, text + 2 * CHUNK, text + 5 * CHUNK, end}) {
            assertThatThrownBy(() -> code.alias(without))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Long.toHexString(without));
        }
    }

    @Test
    void shouldRemapNextChunkWhenInstructionMayReachIntoIt() throws IOException {
        remap(new long[] {text + CHUNK - 4});

        assertThat(code.alias(text + CHUNK)).isEqualTo(code.alias(text) + CHUNK);
    }

    @Test
    void shouldKeepAliasesWhenMoreOfTheTextIsRemapped() throws IOException {
        remap(new long[] {text + 2 * CHUNK, text + 5 * CHUNK});
        long second = code.alias(text + 2 * CHUNK);
        long fifth = code.alias(text + 5 * CHUNK);
        Memory.putLong(second, 42);

        remap(new long[] {
            text, text + CHUNK, text + 2 * CHUNK, text + 3 * CHUNK, text + 4 * CHUNK, text + 5 * CHUNK, text + 6 * CHUNK
        });

        assertThat(code.alias(text + 2 * CHUNK)).isEqualTo(second);
        assertThat(code.alias(text + 5 * CHUNK)).isEqualTo(fifth);
        Memory.putLong(second + 8, 43);
        assertThat(Memory.getLong(text + 2 * CHUNK)).isEqualTo(42);
        assertThat(Memory.getLong(text + 2 * CHUNK + 8)).isEqualTo(43);
        for (int chunk : new int[] {0, 1, 3, 4, 6}) {
            long at = text + chunk * CHUNK;
            assertThat(Memory.getLong(code.alias(at))).isEqualTo(at);
        }
        assertThatThrownBy(() -> code.alias(text + 7 * CHUNK)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTellAliasesWhileOthersMap() throws Exception {
        AtomicBoolean mapped = new AtomicBoolean();
        remap(new long[] {text});
        long alias = code.alias(text);
        try (ExecutorService executor = Executors.newFixedThreadPool(3)) {
            Future<Long> reader = executor.submit(() -> {
                long looks = 0;
                do {
                    assertThat(code.alias(text)).isEqualTo(alias);
                    looks++;
                } while (!mapped.get());
                return looks;
            });
            List<Future<List<Long>>> writers = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                writers.add(executor.submit(() -> {
                    List<Long> own = new ArrayList<>();
                    for (int i = 0; i < 100; i++) {
                        own.add(code.allocateNear(text, end, 4096));
                    }
                    return own;
                }));
            }
            List<Long> all = new ArrayList<>();
            for (Future<List<Long>> writer : writers) {
                all.addAll(writer.get());
            }
            mapped.set(true);

            assertThat(reader.get()).isPositive();
            assertThat(all).hasSize(200).doesNotHaveDuplicates();
            for (long at : all) {
                Memory.putLong(code.alias(at), at);
                assertThat(Memory.getLong(at)).isEqualTo(at);
            }
        }
    }

    @Test
    void shouldPreferPlacesFromWhichHopsAboveTheTextAreInReach() {
        long mebi = 1L << 20;
        long library = 0x7f00_0000_0000L;
        List<MemoryMap.Region> regions = List.of(
                region(library - 600 * mebi, library - 500 * mebi),
                region(library - 448 * mebi, library),
                region(library, library + mebi));

        List<Long> places = CodeMemory.places(regions, library, library + mebi, 40 * mebi);

        assertThat(places).hasSize(3);
        assertThat(places.get(0)).as("above").isBetween(library + mebi, library + 2032 * mebi);
        assertThat(places.get(1)).as("below, 488 MiB").isBetween(library - 500 * mebi, library - 488 * mebi);
        assertThat(places.get(2)).isLessThan(library - 600 * mebi);
    }

    private static MemoryMap.Region region(long start, long end) {
        return new MemoryMap.Region(start, end, false, 0, "");
    }
}
