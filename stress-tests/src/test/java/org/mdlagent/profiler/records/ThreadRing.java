package org.mdlagent.profiler.records;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.SmallSession;
import org.mdlagent.fastinst.calls.ReturnSite;

/// A thread's ring of a few records, its drain, and the operations of the thread's machine code. The ring has
/// wrapped once: every slot holds a complete old record of another function.
public final class ThreadRing {
    public static final int RECORDS = 16;

    private static final int INTERRUPTION = 32;
    private static final int FUNCTION = 0;
    private static final int OLD_FUNCTION = 1;
    private static final int FUNCTIONS = 2;
    private static final long OLD_TICKS = 1 << 20;
    private static final SmallSession[] SESSIONS = SmallSession.all(8192);
    private static final AtomicInteger NEXT_SESSION = new AtomicInteger();

    private final RingDrain drain;
    private final long functions;
    private final long thread;
    private final long ring;
    private long recorded;
    private long recordedTicks;

    public ThreadRing() {
        SmallSession session = SESSIONS[NEXT_SESSION.getAndIncrement() & SESSIONS.length - 1];
        session.clear();
        long header = session.api().session();
        functions = session.api().allocate(FUNCTIONS * FunctionDescriptor.SIZE);
        Memory.putLong(header + HeaderDescriptor.FUNCTIONS, functions);
        thread = session.api().allocate(ThreadDescriptor.SIZE);
        ring = session.api().allocate(RECORDS * RecordDescriptor.SIZE);
        Memory.putLong(thread + ThreadDescriptor.RING, ring);
        Memory.putLong(thread + ThreadDescriptor.RING_MASK, RECORDS - 1);
        for (int i = 0; i < RECORDS; i++) {
            long record = reserve(i);
            fill(record, OLD_FUNCTION, OLD_TICKS);
            complete(record, i);
        }
        Memory.putLong(thread + ThreadDescriptor.TAIL, RECORDS);
        Memory.putLong(header + HeaderDescriptor.THREADS, thread);
        drain = new RingDrain(session.api(), address -> ReturnSite.UNKNOWN);
    }

    /// Records a call as the trampolines do, or counts it as dropped when the ring is full.
    public void write(long ticks) {
        long position = Memory.getLong(thread + ThreadDescriptor.HEAD);
        if (isFull(position)) {
            return;
        }
        long record = reserve(position);
        fill(record, FUNCTION, ticks);
        complete(record, position);
        recorded++;
        recordedTicks += ticks;
    }

    /// As [#write], but marks the record complete too early.
    public void writeCompletedFirst(long ticks) {
        long position = Memory.getLong(thread + ThreadDescriptor.HEAD);
        if (isFull(position)) {
            return;
        }
        long record = reserve(position);
        complete(record, position);
        fill(record, FUNCTION, ticks);
        recorded++;
        recordedTicks += ticks;
    }

    private boolean isFull(long position) {
        boolean full = position - Memory.getLongAcquire(thread + ThreadDescriptor.TAIL) >= RECORDS;
        if (full) {
            Memory.putLong(thread + ThreadDescriptor.DROPPED, dropped() + 1);
        }
        return full;
    }

    private long reserve(long position) {
        Memory.putLong(thread + ThreadDescriptor.HEAD, position + 1);
        VarHandle.storeStoreFence(); // x86-64 keeps the order of stores; this makes the compiler keep it.
        return ring + (position & RECORDS - 1) * RecordDescriptor.SIZE;
    }

    private static void fill(long record, int function, long ticks) {
        Memory.putInt(record + RecordDescriptor.FUNCTION, function);
        interrupt();
        Memory.putLong(record + RecordDescriptor.DURATION, ticks);
    }

    /// A signal handler may run at any instruction: here it runs while the record is half written.
    private static void interrupt() {
        for (int i = 0; i < INTERRUPTION; i++) {
            Thread.onSpinWait();
        }
    }

    private static void complete(long record, long position) {
        Memory.putIntRelease(record + RecordDescriptor.SEQ, (int) (position + 1));
        VarHandle.storeStoreFence();
    }

    /// Drains complete records.
    ///
    /// @return the number of records
    public int drain() {
        SampleWeights weights = new SampleWeights();
        weights.grow(FUNCTIONS);
        return (int) drain.drain(weights);
    }

    /// The outcome of `calls` written and drained calls: "whole" if each is either counted as dropped or in its
    /// edge exactly once, unchanged.
    public String fate(int calls) {
        if (recorded + dropped() != calls) {
            return "not counted";
        }
        if (callers(OLD_FUNCTION) != 0) {
            return "of an old record";
        }
        long edge = callers(FUNCTION);
        long count = edge == 0 ? 0 : Memory.getLong(edge + EdgeDescriptor.CALLS);
        if (count != recorded) {
            return count < recorded ? "lost" : "repeated";
        }
        return edge == 0 || Memory.getLong(edge + EdgeDescriptor.TOTAL) == recordedTicks ? "whole" : "torn";
    }

    /// Address of the only edge, for all calls come from code that is not known; 0 for none.
    private long callers(int function) {
        return Memory.getLong(functions + function * FunctionDescriptor.SIZE + FunctionDescriptor.CALLERS);
    }

    private long dropped() {
        return Memory.getLong(thread + ThreadDescriptor.DROPPED);
    }
}
