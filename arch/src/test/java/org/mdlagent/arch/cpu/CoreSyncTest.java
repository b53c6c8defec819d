package org.mdlagent.arch.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.mdlagent.arch.shim.Harness;

class CoreSyncTest {
    private static final long TICKS = 100_000;

    @Test
    void shouldWaitForTmaxAfterTheTicketWasTaken() {
        CoreSync sync = new TmaxWait(Harness.API, TICKS);
        long start = Harness.API.tsc();
        long ticket = sync.ticket();

        sync.await(ticket);

        assertThat(Harness.API.tsc() - start).isGreaterThanOrEqualTo(TICKS);
        assertThat(sync.isPast(ticket)).isTrue();
        assertThat(new TmaxWait(Harness.API, Long.MAX_VALUE / 4).isPast(Long.MAX_VALUE / 4))
                .isFalse();
    }

    @Test
    void shouldServeAllTicketsTakenBeforeABarrierWithIt() {
        Membarrier sync = new Membarrier(Harness.API);
        long first = sync.ticket();
        long second = sync.ticket();
        sync.await(first);
        assertThat(sync.barriers()).isOne();

        assertThat(sync.isPast(second)).isTrue();
        assertThat(sync.barriers()).isOne();

        assertThat(sync.isPast(sync.ticket())).isTrue();
        assertThat(sync.barriers()).isEqualTo(2);
    }
}
