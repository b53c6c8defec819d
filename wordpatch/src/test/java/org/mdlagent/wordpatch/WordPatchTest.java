package org.mdlagent.wordpatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.wordpatch.WordPatch.StartResult;

/// Stops every protocol between its steps and executes the site there, on this thread, so that the result
/// shows what is in memory. Whether other cores see the same in time is tested by the torture tests.
class WordPatchTest {
    private static final String ONE = "B8 01 01 01 01"; // mov $0x01010101,%eax
    private static final String TWO = "B8 02 02 02 02"; // mov $0x02020202,%eax
    private static final int ONES = 0x01010101;
    private static final int TWOS = 0x02020202;

    private final Steps steps = new Steps();
    private CodePage page;

    @BeforeEach
    void mapPage() throws IOException {
        page = new CodePage();
    }

    private WordPatch patcher(int atomicUnit, TrapMode mode) {
        return new WordPatch(
                CodePage.API,
                steps,
                page.code(),
                page.arena(),
                CodePage.TRAPS,
                steps,
                mode,
                InstructionSet.ofAtomicUnit(atomicUnit));
    }

    private WordPatch patcher() {
        return patcher(8, TrapMode.REDIRECT);
    }

    /// Places `hex` and a `ret` so that the boundary of a 64-byte unit lies after its first `before` bytes.
    private long function(String hex, int before) {
        long address = page.start() + 256 - before;
        page.put(address, hex + " C3");
        return address;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldExecuteOldOrNewInstructionBetweenAnyTwoSteps(int split) {
        // xor %eax,%eax; mov $0x01010101,%eax -> add $0x02020202,%eax
        long address = page.start() + 256 - split;
        page.put(address - 2, "31 C0" + ONE + "C3");
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 5);
        List<Integer> seen = new ArrayList<>();
        steps.between(() -> seen.add(page.call(address - 2)));
        String two = "05 02 02 02 02";

        assertThat(patcher.patch(site, CodePage.word(two))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("trap", "sync", "store", "sync", "store");
        assertThat(seen).hasSize(10).last().isEqualTo(TWOS);
        assertThat(seen.subList(0, 9)).containsOnly(ONES);
        assertThat(site.word()).isEqualTo(CodePage.word(two));
        assertThat(site.pending()).isNull();
    }

    @Test
    void shouldPatchWithOneStoreWhatLiesInOneUnit() {
        long address = function(ONE, 5);
        WordPatch patcher = patcher();

        assertThat(patcher.patch(patcher.site(address, 5), CodePage.word(TWO))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("store");
        assertThat(page.call(address)).isEqualTo(TWOS);
    }

    @Test
    void shouldTakeLinesForUnitsWhereTheProcessorDoes() {
        long address = page.start() + 64 + 5; // crosses a quadword, not a line
        page.put(address, ONE + " C3");
        WordPatch patcher = patcher(64, TrapMode.REDIRECT);

        assertThat(patcher.patch(patcher.site(address, 5), CodePage.word(TWO))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("store");
        assertThat(page.call(address)).isEqualTo(TWOS);
    }

    @Test
    void shouldStoreOneSideOnlyWhenOnlyThatDiffers() {
        long address = function(ONE, 2);
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 5);

        assertThat(patcher.patch(site, CodePage.word("B8 01 01 03 01"))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("store");
        assertThat(page.call(address)).isEqualTo(0x01030101);
    }

    @Test
    void shouldTakeAllStepsWhenOtherSideOfInstructionHasJustChanged() {
        long address = function(ONE, 2);
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 5);
        assertThat(patcher.patch(site, CodePage.word("B8 01 01 03 01"))).isEqualTo(new PatchResult.Patched());
        steps.taken().clear();

        assertThat(patcher.patch(site, CodePage.word("B8 07 01 03 01"))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("trap", "sync", "store", "sync", "store");
        assertThat(page.call(address)).isEqualTo(0x01030107);
    }

    @Test
    void shouldStoreOtherSideAtOnceWhenItsLastChangeHasBeenSeen() {
        long address = function(ONE, 2);
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 5);
        assertThat(patcher.patch(site, CodePage.word("B8 01 01 03 01"))).isEqualTo(new PatchResult.Patched());
        steps.taken().clear();
        steps.passTime();

        assertThat(patcher.patch(site, CodePage.word("B8 07 01 03 01"))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("store");
    }

    @Test
    void shouldExecuteEachOfSeveralInstructionsOldOrNew() {
        // mov $1,%al; mov $1,%ah; xor ... : two bytes each, the second straddles
        long address = page.start() + 256 - 3;
        page.put(address - 2, "31 C0 B0 01 B4 01 B1 01 C3");
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 6);
        List<Integer> seen = new ArrayList<>();
        steps.between(() -> seen.add(page.call(address - 2)));

        assertThat(patcher.patch(site, CodePage.word("B0 02 B4 02 B1 02"))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("trap", "sync", "store", "sync", "store");
        assertThat(seen).containsOnly(0x0101, 0x0202);
        assertThat(page.call(address - 2)).isEqualTo(0x0202);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void shouldLeadThreadsInsideTheOldWordThroughTheRestOfIt(int split) {
        // mov $1,%al; add $2,%ah -> jmp, whose displacement traps at +2
        long address = page.start() + 256 - split;
        String old = "B0 01 80 C4 02";
        page.put(address - 2, "31 C0" + old + "C3");
        page.put(address + 5 + 0xCC00, "B8 07 00 00 00 C3"); // mov $7,%eax; ret
        long middle = page.start() + 512;
        page.put(middle, "B8 41 00 00 00 E9" + CodePage.displacement(middle + 10, address + 2));
        assertThat(page.call(address - 2)).isEqualTo(0x0201);
        assertThat(page.call(middle)).isEqualTo(0x0241);
        PatchSite site = patcher().site(address, 5);
        List<Integer> whole = new ArrayList<>();
        List<Integer> rest = new ArrayList<>();
        steps.between(() -> {
            whole.add(page.call(address - 2));
            rest.add(page.call(middle));
        });

        assertThat(patcher().patch(site, CodePage.word("E9 00 CC 00 00"))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken())
                .isEqualTo(
                        switch (split) {
                            case 5 -> List.of("store");
                            case 2 -> List.of("store", "sync", "store");
                            default -> List.of("trap", "sync", "store", "sync", "store");
                        });
        assertThat(whole).containsOnly(0x0201, 7).last().isEqualTo(7);
        assertThat(rest).containsOnly(0x0241);

        assertThat(patcher().patch(site, CodePage.word(old))).isEqualTo(new PatchResult.Patched());

        assertThat(whole).containsOnly(0x0201, 7).last().isEqualTo(0x0201);
        assertThat(rest).containsOnly(0x0241);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0F 1F 44 00 00", // nopl
                "E8 F6 00 00 00", // call
                "E9 00 00 00 00", // jmp to the next
                "8D 05 10 00 00 00", // lea 0x10(%rip),%eax
                "67 E8 F5 00 00 00", // padded call
            })
    void shouldDoWhatTheOldInstructionDoes(String old) {
        int length = CodePage.bytes(old).length;
        long address = page.start() + 256 - 2;
        page.put(address - 5, ONE + old + "C3");
        page.put(page.start() + 0x1F9, "B8 05 00 00 00 C3"); // what is called: mov $5,%eax; ret
        int before = page.call(address - 5);
        PatchSite site = patcher().site(address, length);
        List<Integer> seen = new ArrayList<>();
        steps.between(() -> seen.add(page.call(address - 5)));
        String replacement = length == 5 ? TWO : "67 " + TWO;

        assertThat(patcher().patch(site, CodePage.word(replacement))).isEqualTo(new PatchResult.Patched());

        assertThat(steps.taken()).hasSize(5).startsWith("trap");
        assertThat(seen.subList(0, 9)).containsOnly(before);
        assertThat(seen).last().isEqualTo(TWOS);
    }

    @Test
    void shouldRejectWordsThatAreNotLayoutEquivalent() {
        long address = function("B0 01 80 C4 02", 5);
        PatchSite site = patcher().site(address, 5);

        assertThat(patcher().patch(site, CodePage.word(TWO)))
                .isEqualTo(new PatchResult.Rejected("not layout-equivalent: the old word has an instruction at +2,"
                        + " where the new one has the inside of another"));
        assertThat(patcher().patch(site, CodePage.word("CC 90 90 90 90")))
                .isEqualTo(new PatchResult.Rejected("the new word traps at once"));
        assertThat(patcher().patch(site, CodePage.word("B0 01 B8 00 00")))
                .isEqualTo(new PatchResult.Rejected("the new word is not a sequence of whole instructions"));
        assertThat(patcher().patch(site, CodePage.word("06 90 90 90 90")))
                .isEqualTo(new PatchResult.Rejected("the new word is not a sequence of whole instructions"));

        assertThat(steps.taken()).isEmpty();
        assertThat(site.word()).isEqualTo(CodePage.word("B0 01 80 C4 02"));
        assertThat(site.pending()).isNull();
    }

    @Test
    void shouldRefuseSitesWithoutAlias() {
        long outside = CodePage.API.session();

        assertThatThrownBy(() -> patcher().site(outside, 5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("alias");
        assertThatThrownBy(() -> patcher().site(page.start(), 9)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> patcher().site(page.start(), 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepPatchesOfOverlappingBytesApart() {
        long address = function("B0 01 80 C4 02", 4);
        WordPatch patcher = patcher();
        PatchSite whole = patcher.site(address, 5);
        PatchSite part = patcher.site(address + 2, 3);
        assertThat(patcher.site(address, 5)).isSameAs(whole);
        StartResult first = patcher.start(whole, CodePage.word("B0 03 80 C4 04"));
        assertThat(first).isInstanceOf(Pending.class);

        assertThat(patcher.patch(whole, CodePage.word("B0 05 80 C4 06"))).isEqualTo(new PatchResult.Contended());
        assertThat(patcher.patch(part, CodePage.word("80 C4 06"))).isEqualTo(new PatchResult.Contended());
        assertThat(part.pending()).isNull();
        ((Pending) first).await();

        assertThat(whole.word()).isEqualTo(CodePage.word("B0 03 80 C4 04"));
        assertThat(patcher.patch(part, CodePage.word("80 C4 06"))).isEqualTo(new PatchResult.Patched());
        assertThat(whole.word()).isEqualTo(CodePage.word("B0 03 80 C4 06"));
    }

    @Test
    void shouldLetNeighboursInTheSameUnitBePatchedAtTheSameTime() throws Exception {
        long address = page.start() + 256 - 6;
        page.put(address, "31 C0 B0 01 B4 01 C3"); // mov $1,%al; mov $1,%ah
        WordPatch patcher = atOnce();
        FutureTask<Integer> first = new FutureTask<>(() -> lost(patcher, patcher.site(address + 2, 2), "B0"));
        FutureTask<Integer> second = new FutureTask<>(() -> lost(patcher, patcher.site(address + 4, 2), "B4"));
        Thread other = Thread.ofPlatform().start(first);

        second.run();

        other.join();
        assertThat(first.get() + second.get()).isZero();
        assertThat(page.call(address)).isEqualTo(0x0202);
    }

    /// A patcher without a test's wrapper.
    private WordPatch atOnce() {
        return new WordPatch(
                CodePage.API,
                CodePage.API,
                page.code(),
                page.arena(),
                CodePage.TRAPS,
                steps,
                TrapMode.REDIRECT,
                InstructionSet.ofAtomicUnit(8));
    }

    /// How often a site does not have the word it has just been patched with; 2 at the end.
    private static int lost(WordPatch patcher, PatchSite site, String opcode) {
        int lost = 0;
        for (int i = 0; i < 100_000; i++) {
            long word = CodePage.word(opcode) | (1 + i % 2) << Byte.SIZE;
            PatchResult unused = patcher.patch(site, word);
            lost += site.word() == word ? 0 : 1;
        }
        return lost;
    }

    @Test
    void shouldGoThroughThePapersStatesWithoutWaiting() {
        long address = function(ONE, 2);
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 5);
        steps.holdTime();

        Pending patch = (Pending) patcher.start(site, CodePage.word(TWO));

        assertThat(patch.state()).isEqualTo(Pending.State.FIRST_WAIT);
        assertThat(site.pending()).isSameAs(patch);
        assertThat(patch.finish()).isFalse();
        assertThat(patch.state()).isEqualTo(Pending.State.FIRST_WAIT);
        steps.passTime();
        assertThat(patch.finish()).isFalse();
        assertThat(patch.state()).isEqualTo(Pending.State.SECOND_WAIT);
        assertThat(patch.finish()).isFalse();
        assertThat(page.call(address)).isEqualTo(ONES);
        steps.passTime();
        assertThat(patch.finish()).isTrue();
        assertThat(patch.state()).isEqualTo(Pending.State.FINISHED);
        assertThat(patch.finish()).isTrue();
        assertThat(page.call(address)).isEqualTo(TWOS);
        assertThat(steps.taken()).containsExactly("trap", "store", "store");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void shouldLetAnotherPatcherFinishWhatOneLeft(int step) {
        long address = function(ONE, 3);
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(address, 5);
        steps.dieAt(step);

        assertThatThrownBy(() -> patcher.patch(site, CodePage.word(TWO))).hasMessageStartingWith("the patcher dies");

        assertThat(page.call(address)).isEqualTo(ONES);
        Pending left = site.pending();
        assertThat(left).isNotNull();
        assertThat(patcher.patch(site, CodePage.word(TWO))).isEqualTo(new PatchResult.Contended());
        left.await();
        assertThat(page.call(address)).isEqualTo(TWOS);
        assertThat(site.pending()).isNull();
        assertThat(patcher.patch(site, CodePage.word(ONE))).isEqualTo(new PatchResult.Patched());
        assertThat(page.call(address)).isEqualTo(ONES);
    }

    @Test
    void shouldLetThreadsGoOnWhileThePatcherIsStopped() {
        long address = function(ONE, 3);
        PatchSite site = patcher().site(address, 5);
        steps.holdTime();
        long row = CodePage.TRAPS.row(address);
        long before = CodePage.TRAPS.hits(row);
        Pending patch = (Pending) patcher().start(site, CodePage.word(TWO));

        assertThat(page.call(address)).isEqualTo(ONES);

        assertThat(CodePage.TRAPS.hits(row)).isEqualTo(before + 1);
        assertThat(patch.finish()).isFalse();
    }

    @Test
    void shouldHoldThreadsWhileThePatcherIsStoppedWhenTheyAreToSpin() throws Exception {
        long address = function(ONE, 3);
        WordPatch patcher = patcher(8, TrapMode.SPIN);
        PatchSite site = patcher.site(address, 5);
        steps.holdTime();
        long row = CodePage.TRAPS.row(address);
        long before = CodePage.TRAPS.hits(row);
        Pending patch = (Pending) patcher.start(site, CodePage.word(TWO));
        FutureTask<Integer> call = new FutureTask<>(() -> page.call(address));
        Thread executor = Thread.ofPlatform().start(call);
        while (CodePage.TRAPS.hits(row) == before) {
            Thread.onSpinWait();
        }

        steps.passTime();
        assertThat(patch.finish()).isFalse();
        assertThat(call.isDone()).isFalse();
        steps.passTime();
        assertThat(patch.finish()).isTrue();

        assertThat(call.get()).isEqualTo(TWOS);
        executor.join();
    }

    @Test
    void shouldWaitTwiceForAnyNumberOfSites() {
        WordPatch patcher = patcher();
        List<PatchSite> sites = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            sites.add(patcher.site(function(i), 5));
        }
        long[] words = new long[100];
        Arrays.fill(words, CodePage.word(TWO));

        List<PatchResult> results = patcher.patchAll(sites, words);

        assertThat(results).hasSize(100).containsOnly(new PatchResult.Patched());
        assertThat(steps.taken().stream().filter("sync"::equals)).hasSize(2);
        assertThat(sites).extracting(site -> page.call(site.address())).containsOnly(TWOS);
    }

    /// A function for each number, straddlers and others.
    private long function(int number) {
        long address = page.start() + 256 + 16L * number + number % 8;
        page.put(address, ONE + " C3");
        return address;
    }

    @Test
    void shouldTakeEachStepOfABatchEverywhereBeforeTheNext() {
        WordPatch patcher = patcher();
        // A boundary lies after three bytes, at the end, and after two.
        List<PatchSite> sites = sites(patcher, 5, 3, 6);
        List<Integer> seen = new ArrayList<>();
        steps.between(() -> sites.forEach(site -> seen.add(page.call(site.address()))));

        assertThat(patcher.patchAll(sites, twos(3))).containsOnly(new PatchResult.Patched());

        assertThat(steps.taken())
                .containsExactly("trap", "store", "trap", "sync", "store", "store", "sync", "store", "store");
        assertThat(seen).containsOnly(ONES, TWOS);
        assertThat(seen.subList(0, 3)).containsOnly(ONES);
        assertThat(seen.subList(seen.size() - 3, seen.size())).containsOnly(TWOS);
    }

    private List<PatchSite> sites(WordPatch patcher, int... numbers) {
        return Arrays.stream(numbers)
                .mapToObj(number -> patcher.site(function(number), 5))
                .toList();
    }

    private static long[] twos(int count) {
        long[] words = new long[count];
        Arrays.fill(words, CodePage.word(TWO));
        return words;
    }

    @Test
    void shouldPatchABatchByFewCallsAsItDoesStepByStep() {
        WordPatch patcher = atOnce();
        List<PatchSite> sites = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            sites.add(patcher.site(function(i), 5));
        }

        List<PatchResult> results = patcher.patchAll(sites, twos(2000));

        assertThat(results).hasSize(2000).containsOnly(new PatchResult.Patched());
        assertThat(sites).extracting(site -> page.call(site.address())).containsOnly(TWOS);
        assertThat(sites).extracting(PatchSite::pending).containsOnlyNulls();
        assertThat(steps.taken()).containsExactly("sync", "sync");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void shouldLeadThreadsInsideTheOldWordThroughTheRestOfItInABatch(int split) {
        // mov $1,%al; add $2,%ah -> jmp, whose displacement traps at +2
        long address = page.start() + 256 - split;
        page.put(address - 2, "31 C0 B0 01 80 C4 02 C3");
        page.put(address + 5 + 0xCC00, "B8 07 00 00 00 C3"); // mov $7,%eax; ret
        long middle = page.start() + 512;
        page.put(middle, "B8 41 00 00 00 E9" + CodePage.displacement(middle + 10, address + 2));
        WordPatch patcher = patcher();
        List<Integer> whole = new ArrayList<>();
        List<Integer> rest = new ArrayList<>();
        steps.between(() -> {
            whole.add(page.call(address - 2));
            rest.add(page.call(middle));
        });

        assertThat(patcher.patchAll(List.of(patcher.site(address, 5)), new long[] {CodePage.word("E9 00 CC 00 00")}))
                .containsExactly(new PatchResult.Patched());

        assertThat(whole).containsOnly(0x0201, 7).last().isEqualTo(7);
        assertThat(rest).containsOnly(0x0241);
        assertThat(page.call(middle)).as("the row stays").isEqualTo(0x0241);
    }

    @Test
    void shouldRememberWhichSideABatchHasChangedAlone() {
        WordPatch patcher = patcher();
        PatchSite site = patcher.site(function(ONE, 2), 5);
        assertThat(patcher.patchAll(List.of(site), new long[] {CodePage.word("B8 01 01 03 01")}))
                .containsExactly(new PatchResult.Patched());
        assertThat(steps.taken()).containsExactly("store");
        steps.taken().clear();

        assertThat(patcher.patchAll(List.of(site), new long[] {CodePage.word("B8 07 01 03 01")}))
                .containsExactly(new PatchResult.Patched());

        assertThat(steps.taken()).containsExactly("trap", "sync", "store", "sync", "store");
        assertThat(page.call(site.address())).isEqualTo(0x01030107);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void shouldLeaveBatchToOthersWhenItsPatcherDies(int step) {
        WordPatch patcher = patcher();
        List<PatchSite> sites = sites(patcher, 4, 5);
        steps.dieAt(step); // of two traps, a sync, two tails, a sync, and two fronts

        assertThatThrownBy(() -> patcher.patchAll(sites, twos(2))).hasMessageStartingWith("the patcher dies");

        assertThat(sites).allSatisfy(site -> {
            assertThat(page.call(site.address())).isIn(ONES, TWOS);
            assertThat(site.pending()).isNotNull();
            assertThat(patcher.patch(site, CodePage.word(ONE))).isEqualTo(new PatchResult.Contended());
        });
        Pending left = sites.get(1).pending();
        assertThat(left).isNotNull();
        left.await();
        assertThat(sites).allSatisfy(site -> {
            assertThat(page.call(site.address())).isEqualTo(TWOS);
            assertThat(site.pending()).isNull();
        });
    }

    @Test
    void shouldPatchSitesOfABatchThatShareBytesOnce() {
        WordPatch patcher = patcher();
        long address = function("B0 01 80 C4 02", 4);
        PatchSite whole = patcher.site(address, 5);
        PatchSite part = patcher.site(address + 2, 3);
        long word = CodePage.word("B0 03 80 C4 04");

        assertThat(patcher.patchAll(List.of(whole, part, whole), new long[] {word, CodePage.word("80 C4 06"), word}))
                .containsExactly(new PatchResult.Patched(), new PatchResult.Contended(), new PatchResult.Contended());

        assertThat(whole.word()).isEqualTo(word);
        assertThat(part.pending()).isNull();
    }

    @Test
    void shouldGiveBackSitesOfABatchThatNeedNoPatch() {
        WordPatch patcher = patcher();
        List<PatchSite> sites = sites(patcher, 4, 5);
        steps.dieAt(2);

        assertThatThrownBy(() -> patcher.patchAll(sites, new long[] {CodePage.word(ONE), CodePage.word(TWO)}))
                .hasMessageStartingWith("the patcher dies");

        assertThat(sites.get(0).pending()).isNull();
        assertThat(patcher.patch(sites.get(0), CodePage.word(TWO))).isEqualTo(new PatchResult.Patched());
    }

    @Test
    void shouldSayOfEachSiteInABatchWhatBecameOfIt() {
        WordPatch patcher = patcher();
        PatchSite taken = patcher.site(function(4), 5);
        PatchSite bad = patcher.site(function(5), 5);
        PatchSite good = patcher.site(function(6), 5);
        assertThat(patcher.start(taken, CodePage.word(TWO))).isInstanceOf(Pending.class);

        List<PatchResult> results = patcher.patchAll(
                List.of(taken, bad, good),
                new long[] {CodePage.word(TWO), CodePage.word("CC 90 90 90 90"), CodePage.word(TWO)});

        assertThat(results)
                .containsExactly(
                        new PatchResult.Contended(),
                        new PatchResult.Rejected("the new word traps at once"),
                        new PatchResult.Patched());
        assertThat(page.call(bad.address())).isEqualTo(ONES);
        assertThat(page.call(good.address())).isEqualTo(TWOS);
    }
}
