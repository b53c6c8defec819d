package org.mdlagent.fastinst.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.StackUse.Reason;

class ImageFactsTest {
    private static final long CHECKSUM = 0x1234_5678_9ABC_DEF0L;
    private static final int PIECES = 9;
    private static final int MUTATIONS = 200_000;

    private static ImageFacts facts() {
        ImageFacts facts = new ImageFacts(CHECKSUM, PIECES);
        facts.look(0, null, new int[0], List.of());
        facts.look(1, Reason.TAKES, new int[] {2, 3}, List.of("free"));
        facts.look(4, null, new int[] {8}, List.of("malloc", "free", "\u00E9"));
        facts.shape(4, 2);
        facts.setTable(false);
        facts.setColdParts(77, BitSet.valueOf(new long[] {0b1_0010_0000}));
        return facts;
    }

    @Test
    void shouldReadWhatItWrites() {
        ImageFacts read = Objects.requireNonNull(ImageFacts.read(facts().bytes(), CHECKSUM, PIECES));

        assertThat(read.hasLook(0)).isTrue();
        assertThat(read.reason(0)).isNull();
        assertThat(read.hasLook(2)).isFalse();
        assertThat(read.reason(1)).isEqualTo(Reason.TAKES);
        assertThat(read.siblings(1)).containsExactly(2, 3);
        assertThat(read.imports(1)).containsExactly("free");
        assertThat(read.siblings(4)).containsExactly(8);
        assertThat(read.imports(4)).containsExactly("malloc", "free", "\u00E9");
        assertThat(read.shape(4)).isEqualTo(2);
        assertThat(read.shape(1)).isZero();
        assertThat(read.isTable()).isFalse();
        assertThat(read.coldParts(77)).isEqualTo(BitSet.valueOf(new long[] {0b1_0010_0000}));
        assertThat(read.coldParts(78)).isNull();
        assertThat(read.haveGrown()).isFalse();
        assertThat(read.bytes()).isEqualTo(facts().bytes());
    }

    @Test
    void shouldKnowNothingAtFirst() {
        ImageFacts none = new ImageFacts(CHECKSUM, PIECES);
        assertThat(none.hasLook(3)).isFalse();
        assertThat(none.isTable()).isNull();
        assertThat(none.coldParts(0)).isNull();
        assertThat(none.haveGrown()).isFalse();
    }

    @Test
    void shouldBeWrittenAnewWhenMuchIsNew() {
        ImageFacts grown = new ImageFacts(CHECKSUM, 100);
        for (int i = 0; i < 80; i++) {
            grown.look(i, null, new int[0], List.of());
        }
        assertThat(grown.haveGrown()).isTrue();
        ImageFacts read = Objects.requireNonNull(ImageFacts.read(grown.bytes(), CHECKSUM, 100));
        for (int i = 80; i < 90; i++) {
            read.look(i, null, new int[0], List.of());
        }
        assertThat(read.haveGrown()).isFalse();
        read.look(90, null, new int[0], List.of());
        assertThat(read.haveGrown()).isTrue();
    }

    @Test
    void shouldRefuseFactsOfAnotherFile() {
        assertThat(ImageFacts.read(facts().bytes(), CHECKSUM + 1, PIECES)).isNull();
        assertThat(ImageFacts.read(facts().bytes(), CHECKSUM, PIECES + 1)).isNull();
        assertThat(ImageFacts.read(facts().bytes(), CHECKSUM, PIECES - 1)).isNull();
    }

    @Test
    void shouldRefuseDamagedFacts() {
        byte[] bytes = facts().bytes();
        for (int length = 0; length < bytes.length; length++) {
            assertThat(ImageFacts.read(Arrays.copyOf(bytes, length), CHECKSUM, PIECES))
                    .isNull();
        }
        for (int bit = 0; bit < bytes.length * Byte.SIZE; bit++) {
            byte[] flipped = bytes.clone();
            flipped[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThat(ImageFacts.read(flipped, CHECKSUM, PIECES))
                    .as("bit " + bit)
                    .isNull();
        }
    }

    /// Foreign bytes with a correct checksum: refused, or no index and no reason is out of bounds.
    @Test
    void shouldSurviveEveryForgery() {
        byte[] bytes = facts().bytes();
        Random random = new Random(60);
        int accepted = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] forged = Arrays.copyOf(bytes, Math.max(4, bytes.length - random.nextInt(4) * random.nextInt(9)));
            for (int n = random.nextInt(4); n >= 0; n--) {
                forged[random.nextInt(forged.length)] = (byte) random.nextInt();
            }
            seal(forged);
            ImageFacts read = ImageFacts.read(forged, CHECKSUM, PIECES);
            if (read != null) {
                accepted++;
                for (int piece = 0; piece < PIECES; piece++) {
                    Reason unused = read.reason(piece);
                    for (int sibling : read.siblings(piece)) {
                        assertThat(sibling).isBetween(0, PIECES - 1);
                    }
                    assertThat(read.imports(piece)).doesNotContainNull();
                }
            }
        }
        assertThat(accepted).isBetween(1, MUTATIONS - 1);
    }

    private static void seal(byte[] bytes) {
        CRC32 sum = new CRC32();
        sum.update(bytes, 0, bytes.length - Integer.BYTES);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.length - Integer.BYTES, (int)
                sum.getValue());
    }
}
