package org.mdlagent.fastinst;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mdlagent.fastinst.ProbedFunctions.Probed;

/// Stubs whose first instruction is a jump to their counter at times.
class CounterTest {
    private static final int CALLS = 1_000_000;

    @AfterEach
    void switchOff() {
        ProbedFunctions.switchWhole(false);
        ProbedFunctions.leadToCounter(false);
    }

    @Test
    void shouldCountAndRecordNothing() {
        ProbedFunctions.switchWhole(true);
        ProbedFunctions.call(Probed.WHOLE); // the thread has memory from now on
        ProbedFunctions.leadToCounter(true);
        long counted = ProbedFunctions.counted(Probed.WHOLE);
        long recorded = ProbedFunctions.recorded(Probed.WHOLE);

        int calls = 640;
        for (int i = 0; i < calls; i++) {
            ProbedFunctions.call(Probed.WHOLE);
        }

        assertThat(ProbedFunctions.counted(Probed.WHOLE) - counted).isEqualTo(calls);
        assertThat(ProbedFunctions.recorded(Probed.WHOLE) - recorded)
                .as("those whose thread looks at the clock before")
                .isEqualTo(calls / 64);
    }

    /// The function returns what it does, whatever the thread finds at the stub's head.
    @Test
    void shouldCountEachCallOnceWhileHeadsChange() {
        AtomicBoolean done = new AtomicBoolean();
        ProbedFunctions.switchWhole(true);
        long counted = ProbedFunctions.counted(Probed.WHOLE);
        CompletableFuture<Void> changes = CompletableFuture.runAsync(() -> {
            for (boolean counting = true; !done.get(); counting = !counting) {
                ProbedFunctions.leadToCounter(counting);
            }
        });

        for (int i = 0; i < CALLS; i++) {
            ProbedFunctions.call(Probed.WHOLE);
        }

        done.set(true);
        changes.join();
        assertThat(ProbedFunctions.counted(Probed.WHOLE) - counted).isEqualTo(CALLS);
    }
}
