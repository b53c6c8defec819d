package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;

class EnteredCallsTest {
    private static final int FUNCTIONS = 20;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment header = arena.allocate(HeaderDescriptor.SIZE, Long.BYTES);
    private final EnteredCalls calls = new EnteredCalls(header.address());
    private final List<Block> blocks = new ArrayList<>();

    private final class Block {
        final MemorySegment thread = arena.allocate(ThreadDescriptor.SIZE, Long.BYTES);
        final MemorySegment counters = arena.allocate((long) FUNCTIONS * Long.BYTES, Long.BYTES);

        Block(int tid) {
            thread.set(ValueLayout.JAVA_LONG, ThreadDescriptor.CALLS, counters.address());
            thread.set(
                    ValueLayout.JAVA_LONG,
                    ThreadDescriptor.NEXT,
                    header.get(ValueLayout.JAVA_LONG, HeaderDescriptor.THREADS));
            header.set(ValueLayout.JAVA_LONG, HeaderDescriptor.THREADS, thread.address());
            begin(tid);
            blocks.add(this);
        }

        void begin(int tid) {
            thread.set(ValueLayout.JAVA_INT, ThreadDescriptor.TID, tid);
            thread.set(ValueLayout.JAVA_INT, ThreadDescriptor.STATE, ThreadDescriptor.STATE_LIVE);
        }

        void end() {
            thread.set(ValueLayout.JAVA_INT, ThreadDescriptor.STATE, ThreadDescriptor.STATE_LIVE - 1);
        }

        boolean isLive() {
            return thread.get(ValueLayout.JAVA_INT, ThreadDescriptor.STATE) == ThreadDescriptor.STATE_LIVE;
        }

        void count(int function, long more) {
            long before = counters.getAtIndex(ValueLayout.JAVA_LONG, function);
            counters.setAtIndex(ValueLayout.JAVA_LONG, function, before + more);
        }
    }

    private long sum(int function) {
        return blocks.stream()
                .mapToLong(block -> block.counters.getAtIndex(ValueLayout.JAVA_LONG, function))
                .sum();
    }

    private void shouldReadAll() {
        shouldRead(FUNCTIONS);
    }

    private void shouldRead(int functions) {
        long[] read = calls.read(functions);
        for (int i = 0; i < functions; i++) {
            assertThat(read[i]).isEqualTo(sum(i));
        }
    }

    private void readUntilBlocksRest(int functions) {
        for (int i = 0; i < 100; i++) {
            shouldRead(functions);
        }
    }

    @Test
    void shouldAddUpTheCallsOfThreadsThatComeEndAndLeaveTheirBlocksToOthers() {
        SplittableRandom random = new SplittableRandom(1);
        int tid = 1;
        for (int i = 0; i < 10_000; i++) {
            if (blocks.size() < 10 && random.nextInt(100) == 0) {
                Block unused = new Block(tid++);
            }
            for (Block block : blocks) {
                if (block.isLive()) {
                    block.count(random.nextInt(FUNCTIONS), random.nextInt(1000));
                }
                if (random.nextInt(50) == 0) {
                    if (block.isLive()) {
                        block.end();
                    } else {
                        block.begin(tid++);
                    }
                }
            }
            shouldReadAll();
        }
    }

    /// Between two readings another thread may have had it and have ended.
    @Test
    void shouldSeeThatAThreadHasHadTheBlockMeanwhile() {
        Block block = new Block(1);
        block.count(3, 5);
        block.end();
        readUntilBlocksRest(FUNCTIONS);
        block.begin(2);
        block.count(3, 7);
        block.end();
        shouldReadAll();
    }

    /// The kernel gives a thread the number of one that has ended.
    @Test
    void shouldSeeAThreadThatHasTheNumberOfTheLastOne() {
        Block block = new Block(1);
        block.end();
        readUntilBlocksRest(FUNCTIONS);
        block.begin(1);
        block.count(3, 7);
        shouldReadAll();
    }

    @Test
    void shouldNotReadBlocksThatRestEachTime() {
        Block block = new Block(1);
        block.count(3, 5);
        block.end();
        readUntilBlocksRest(FUNCTIONS);
        // Nobody writes to it.
        block.counters.setAtIndex(ValueLayout.JAVA_LONG, 3, 1000);

        assertThat(calls.read(FUNCTIONS)[3]).isEqualTo(5);
    }

    @Test
    void shouldLetOthersRestWhenOneIsTakenOver() {
        Block resting = new Block(1);
        Block taken = new Block(2);
        resting.count(3, 5);
        resting.end();
        taken.end();
        readUntilBlocksRest(FUNCTIONS);
        taken.begin(3);
        taken.count(3, 7);
        shouldReadAll();
        // Nobody writes to it.
        resting.counters.setAtIndex(ValueLayout.JAVA_LONG, 3, 1000);

        assertThat(calls.read(FUNCTIONS)[3]).isEqualTo(12);
    }

    @Test
    void shouldGrow() {
        Block block = new Block(1);
        block.count(3, 5);
        block.end();
        readUntilBlocksRest(FUNCTIONS / 2);
        block.count(FUNCTIONS - 1, 9);
        shouldReadAll();
    }
}
