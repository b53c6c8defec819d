package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SlowCallDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.arch.layout.SlowWaitDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.SlowCall;

/// Reads the log of slow calls, and makes trees of it: a thread's calls are in the order of their ends, so a call comes
/// after its callees, which ended after it had begun.
///
/// Guarantees G1 a record that is overwritten meanwhile is left out: its `seq` differs before or after it is copied
final class SlowCallReader {
    private static final int RECORD = (int) SlowCallDescriptor.SIZE;

    private final SessionBytes bytes;
    private final List<FunctionProfile> functions;
    private final List<CallTree.Wait> waits;
    private final double nanosPerTick;
    private final long began;

    /// @param functions of the session, by their index
    /// @param waits     of the session
    SlowCallReader(SessionBytes bytes, List<FunctionProfile> functions, List<CallTree.Wait> waits, double ticksPerNano)
            throws IOException {
        this.bytes = bytes;
        this.functions = functions;
        this.waits = waits;
        nanosPerTick = 1 / ticksPerNano;
        began = bytes.getLong(HeaderDescriptor.START_TSC);
    }

    private record OfThread(int pid, int tid) implements Comparable<OfThread> {
        @Override
        public int compareTo(OfThread other) {
            return Comparator.comparingInt(OfThread::pid)
                    .thenComparingInt(OfThread::tid)
                    .compare(this, other);
        }
    }

    private record Logged(long start, long end, long limit, long cpu, long lag, int function) {}

    private static long table(SessionBytes bytes) throws IOException {
        long pointer = bytes.getLong(HeaderDescriptor.SLOW);
        return pointer == 0 ? 0 : bytes.offset(pointer, SlowCallsDescriptor.SIZE, "the table of slow calls");
    }

    SlowCall.All read() throws IOException {
        long table = table(bytes);
        if (table == 0) {
            return SlowCall.All.NONE;
        }
        List<SlowCall> roots = new ArrayList<>();
        for (Map.Entry<OfThread, List<Logged>> thread : records(table).entrySet()) {
            roots.addAll(trees(thread.getKey(), thread.getValue()));
        }
        roots.sort(Comparator.comparingLong(SlowCall::startNanos));
        return new SlowCall.All(
                bytes.getCounter(table + SlowCallsDescriptor.SLOW),
                bytes.getCounter(table + SlowCallsDescriptor.CUT),
                nanos(bytes.getCounter(table + SlowCallsDescriptor.THRESHOLD)),
                roots);
    }

    /// By thread, in the order of the log.
    private Map<OfThread, List<Logged>> records(long table) throws IOException {
        long size = SlowCallDescriptor.SLOW_LOG * SlowCallDescriptor.SIZE;
        long log = bytes.offset(bytes.getLong(table + SlowCallsDescriptor.LOG), size, "the log of slow calls");
        bytes.claim(size);
        long next = bytes.getCounter(table + SlowCallsDescriptor.NEXT);
        Map<OfThread, List<Logged>> threads = new TreeMap<>();
        for (long i = Math.max(0, next - SlowCallDescriptor.SLOW_LOG); i < next; i++) {
            long at = log + i % SlowCallDescriptor.SLOW_LOG * RECORD;
            boolean complete = bytes.getInt(at + SlowCallDescriptor.SEQ) == (int) (i + 1);
            ByteBuffer record = bytes.copy(at, RECORD);
            if (complete && record.getInt((int) SlowCallDescriptor.SEQ) == (int) (i + 1)) {
                add(record, threads);
            }
        }
        return threads;
    }

    private void add(ByteBuffer record, Map<OfThread, List<Logged>> threads) throws IOException {
        int function = record.getInt((int) SlowCallDescriptor.FUNCTION);
        long start = record.getLong((int) SlowCallDescriptor.START);
        long end = record.getLong((int) SlowCallDescriptor.END);
        if (function < 0 || end < start || !bytes.isPossible(end - start)) {
            throw bytes.damaged("a slow call is of function " + function + ", from " + start + " to " + end);
        }
        if (function < functions.size()) {
            OfThread thread = new OfThread(
                    record.getInt((int) SlowCallDescriptor.PID), record.getInt((int) SlowCallDescriptor.TID));
            threads.computeIfAbsent(thread, unused -> new ArrayList<>())
                    .add(new Logged(
                            start,
                            end,
                            record.getLong((int) SlowCallDescriptor.LIMIT),
                            record.getLong((int) SlowCallDescriptor.ON_CPU),
                            record.getLong((int) SlowCallDescriptor.LAG),
                            function));
        }
    }

    private List<SlowCall> trees(OfThread thread, List<Logged> records) {
        // A signal handler's calls may be in the log before those that it has interrupted.
        records.sort(Comparator.comparingLong(Logged::end));
        List<CallTree.Wait> own = waits.stream()
                .filter(wait -> wait.pid() == thread.pid && wait.tid() == thread.tid)
                .toList();
        List<SlowCall> open = new ArrayList<>();
        for (Logged record : records) {
            long start = nanos(record.start - began);
            int first = open.size();
            while (first > 0 && open.get(first - 1).endNanos() > start) {
                first--;
            }
            List<SlowCall> callees = open.subList(first, open.size());
            SlowCall call = call(thread, record, callees, own);
            callees.clear();
            open.add(call);
        }
        return open;
    }

    private SlowCall call(OfThread thread, Logged record, List<SlowCall> callees, List<CallTree.Wait> ofThread) {
        long start = nanos(record.start - began);
        long end = nanos(record.end - began);
        boolean known = record.lag >= 0 && record.cpu >= 0;
        return new SlowCall(
                thread.pid,
                thread.tid,
                functions.get(record.function),
                start,
                end - start,
                record.limit > 0 && record.end - record.start >= record.limit,
                known ? OptionalLong.of(Math.min(record.cpu, end - start)) : OptionalLong.empty(),
                known ? nanos(record.lag) : 0,
                ofThread.stream()
                        .filter(wait -> wait.sinceNanos() < end && wait.untilNanos() > start)
                        .filter(wait -> callees.stream()
                                .noneMatch(callee -> wait.sinceNanos() < callee.endNanos()
                                        && wait.untilNanos() > callee.startNanos()))
                        .sorted(Comparator.comparingLong((CallTree.Wait wait) -> wait.untilNanos() - wait.sinceNanos())
                                .reversed())
                        .toList(),
                callees);
    }

    private long nanos(long ticks) {
        return Math.round(ticks * nanosPerTick);
    }

    /// Where threads waited, as many as the session keeps.
    ///
    /// @param nodes of the call tree, by their numbers in the session
    static List<CallTree.Wait> waits(SessionBytes bytes, CallTree.Node[] nodes, double ticksPerNano)
            throws IOException {
        long table = table(bytes);
        if (table == 0) {
            return List.of();
        }
        long size = SlowCallDescriptor.SLOW_WAITS * SlowWaitDescriptor.SIZE;
        long ring = bytes.offset(bytes.getLong(table + SlowCallsDescriptor.WAITS), size, "the waits");
        bytes.claim(size);
        long began = bytes.getLong(HeaderDescriptor.START_TSC);
        long count = bytes.getCounter(table + SlowCallsDescriptor.WAIT_COUNT);
        List<CallTree.Wait> waits = new ArrayList<>();
        for (long i = Math.max(0, count - SlowCallDescriptor.SLOW_WAITS); i < count; i++) {
            ByteBuffer wait = bytes.copy(
                    ring + i % SlowCallDescriptor.SLOW_WAITS * SlowWaitDescriptor.SIZE, (int) SlowWaitDescriptor.SIZE);
            int node = wait.getInt((int) SlowWaitDescriptor.NODE);
            // A path may be newer than the snapshot of the paths.
            if (node > 0 && node < nodes.length) {
                waits.add(new CallTree.Wait(
                        wait.getInt((int) SlowWaitDescriptor.PID),
                        wait.getInt((int) SlowWaitDescriptor.TID),
                        Math.round((wait.getLong((int) SlowWaitDescriptor.SINCE) - began) / ticksPerNano),
                        Math.round((wait.getLong((int) SlowWaitDescriptor.UNTIL) - began) / ticksPerNano),
                        nodes[node]));
            }
        }
        return waits;
    }
}
