package org.mdlagent.fastinst.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.DisplacementRule;

/// Places far from everything, as a position-independent program has them.
class ConstrainedHopsTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    private static final int HOP = 5;
    private static final int PAGE = 4096;
    private static final int TRAPS = 0xCCCCCCCC;

    /// Heads of a function's first instructions, as masks of the displacement, the most frequent first.
    private static final int[] HEADS = {
        0xFF00FF00, 0xFF00, 0xFF0000FF, 0xFF000000, 0xFF0000, 0xFF, 0xFFFF, 0xFF00FFFF, 0xFFFFFF, 0xFFFFFFFF
    };

    private final CodeMemory code = new CodeMemory(API);
    private final ConstrainedHops hops = new ConstrainedHops(code, HOP);

    @Test
    void shouldKeepTheRulesAndOverlapNothing() throws Exception {
        SplittableRandom random = new SplittableRandom(7);
        long from = 0x2000_0000_0005L;
        List<Long> placed = new ArrayList<>();
        int sites = 2000;
        for (int i = 0; i < sites; i++) {
            from += random.nextInt(8, 200);
            int heads = HEADS[Math.min(random.nextInt(HEADS.length), random.nextInt(HEADS.length))];
            DisplacementRule rule = new DisplacementRule(heads, heads & TRAPS);
            long hop = hops.place(from, List.of(rule));
            if (hop != 0) {
                assertThat(hop - from).isBetween((long) Integer.MIN_VALUE, (long) Integer.MAX_VALUE);
                assertThat(rule.allows((int) (hop - from))).isTrue();
                assertThat((int) (hop - from) >>> 24).isEqualTo(0xCC);
                placed.add(hop);
            }
        }
        assertThat(placed).hasSizeGreaterThan(sites * 95 / 100);
        placed.sort(null);
        for (int i = 1; i < placed.size(); i++) {
            assertThat(placed.get(i)).isGreaterThanOrEqualTo(placed.get(i - 1) + HOP);
        }
        List<TrampolineRange> ranges = hops.newRanges();
        assertThat(placed)
                .allMatch(hop -> ranges.stream()
                        .anyMatch(range -> hop >= range.start() && hop + HOP <= range.start() + range.length()));
        for (int i = 1; i < ranges.size(); i++) {
            TrampolineRange before = ranges.get(i - 1);
            assertThat(ranges.get(i).start()).isGreaterThan(before.start() + before.length());
        }
    }

    @Test
    void shouldGiveUpWhereTheOnlyPlaceIsTaken() throws Exception {
        DisplacementRule only = new DisplacementRule(-1, TRAPS);
        long from = 0x2100_0000_0000L - TRAPS + 0x100;
        assertThat(hops.place(from, List.of(only))).isEqualTo(0x2100_0000_0100L);

        assertThat(hops.place(from, List.of(only))).isZero();
        assertThat(hops.place(from + HOP - 1, List.of(only))).isZero();
        assertThat(hops.place(from - HOP + 1, List.of(only))).isZero();
        assertThat(hops.place(from + HOP, List.of(only))).isEqualTo(0x2100_0000_0105L);
        assertThat(hops.place(from - HOP, List.of(only))).isEqualTo(0x2100_0000_00FBL);
    }

    /// Where nothing traps, the highest byte is the code's.
    @ParameterizedTest
    @ValueSource(ints = {0x48535500, 0x840F0000, 0x01020300, 0xFE020300})
    void shouldLeadWhereASingleRuleWants(int displacement) throws Exception {
        DisplacementRule only = new DisplacementRule(0xFFFFFF00, displacement);
        long from = 0x2300_0000_0005L;

        long hop = hops.place(from, List.of(only));

        assertThat((int) (hop - from) & 0xFFFFFF00).isEqualTo(displacement);
    }

    @Test
    void shouldGiveUpWhereAHopWouldLeaveItsPage() throws Exception {
        DisplacementRule only = new DisplacementRule(-1, TRAPS);
        long end = 0x2200_0000_0000L + PAGE;

        assertThat(hops.place(end - HOP - TRAPS, List.of(only))).isEqualTo(end - HOP);
        assertThat(hops.place(end + 2 * PAGE - HOP + 1 - TRAPS, List.of(only))).isZero();
    }

    /// Functions are larger than hops.
    @Test
    void shouldShareFewPages() throws IOException {
        DisplacementRule top = new DisplacementRule(0xFF000000, 0x48000000);
        int sites = 20_000;
        for (int i = 0; i < sites; i++) {
            assertThat(hops.place(0x2800_0000_0005L + 64L * i, List.of(top))).isNotZero();
        }

        assertThat(hops.newRanges().stream().mapToLong(TrampolineRange::length).sum())
                .isLessThan(sites * HOP + 4L * PAGE);
    }

    @Test
    void shouldLeaveMemoryOfOthersAlone() throws IOException {
        DisplacementRule top = new DisplacementRule(0xFF000000, 0xCC000000);
        long lowest = 0x2300_0000_0000L;
        long half = lowest + (1 << 23);
        long from = lowest - 0xCC000000;
        int taken = 3;
        assertThat(new CodeMemory(API).allocateAt(half, half + taken * PAGE)).isTrue();

        assertThat(hops.place(from, List.of(top))).isEqualTo(half + taken * PAGE);
        assertThat(hops.newRanges()).extracting(TrampolineRange::start).containsExactly(half + taken * PAGE);
    }

    @Test
    void shouldTakeWhatIsLeftBelow() throws IOException {
        DisplacementRule top = new DisplacementRule(0xFF000000, 0xCC000000);
        long lowest = 0x2A00_0000_0000L;
        assertThat(new CodeMemory(API).allocateAt(lowest, lowest + PAGE)).isTrue();
        assertThat(new CodeMemory(API).allocateAt(lowest + 2 * PAGE, lowest + (1 << 24)))
                .isTrue();

        assertThat(hops.place(lowest - 0xCC000000, List.of(top))).isEqualTo(lowest + PAGE);
    }

    @Test
    void shouldGoUpWhereNothingIsFreeBelowAndTheTopByteMayBeAny() throws IOException {
        long lowest = 0x2600_0000_0000L;
        assertThat(new CodeMemory(API).allocateAt(lowest, lowest + (1 << 24))).isTrue();
        long from = lowest - 0xCC000000;

        long hop = hops.place(from, List.of(new DisplacementRule(0xFF00, 0xCC00)));

        assertThat((hop - from) >> 24).isEqualTo(0x60);
        assertThat((hop - from) >> 8 & 0xFF).isEqualTo(0xCC);
    }

    @Test
    void shouldGoUpByTheBytesThatTrapThere() throws IOException {
        DisplacementRule below = new DisplacementRule(0xFF0000FF, 0xCC0000CC);
        DisplacementRule above = new DisplacementRule(0xFF0000FF, 0x600000CC);
        DisplacementRule last = new DisplacementRule(0xFF0000FF, 0x610000CC);
        long lowest = 0x2700_0000_0000L;
        assertThat(new CodeMemory(API).allocateAt(lowest, lowest + (1 << 24))).isTrue();
        long from = lowest - 0xCC000000;

        long hop = hops.place(from, List.of(below, above, last));

        assertThat(hop - from >> 24).isEqualTo(0x60);
        assertThat(above.allows((int) (hop - from))).isTrue();
        assertThat(hops.place(from, List.of(last)) - from >> 24).isEqualTo(0x61);
        assertThat(hops.place(from, List.of(below))).isZero();
    }

    @Test
    void shouldGiveUpAfterSomeRefusals() throws IOException {
        DisplacementRule top = new DisplacementRule(0xFF000000, 0xCC000000);
        long lowest = 0x2400_0000_0000L;
        assertThat(new CodeMemory(API).allocateAt(lowest, lowest + (1 << 24))).isTrue();

        assertThat(hops.place(lowest - 0xCC000000, List.of(top))).isZero();
    }

    @Test
    void shouldGiveUpWhenTheTopByteMustBeOneThatTrapsNotToday() throws IOException {
        DisplacementRule one = new DisplacementRule(0xFF000000, 0x62000000);
        DisplacementRule other = new DisplacementRule(0xFF000000, 0x63000000);
        assertThat(hops.place(0x2500_0000_0000L, List.of(one, other))).isZero();
    }
}
