package org.mdlagent.bench.probes;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.session.FunctionRecords;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.CopiedCounts;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.ProbeFilter;
import org.mdlagent.fastinst.snippet.Snippets;

/// Probes in this process, made as in a program: every call is recorded while they are on.
///
/// One per process, which has one session.
public final class ProbedLibrary {
    private static final long DETACH_NANOS_MAX = 5_000_000_000L;
    private static final long POLL_NANOS = 1_000_000;
    private static final int ROOM = 4096;

    private static final ProbeFilter ALL = new ProbeFilter() {
        @Override
        public boolean includes(String image, String file, String name) {
            return true;
        }

        @Override
        public boolean needsFiles() {
            return false;
        }
    };

    private final NativeApi api;
    private final Probes probes;
    private final long header;
    private final ThreadBlocks threads;
    private final FunctionRecords functions;
    private final Map<Long, Integer> functionOfAddress = new HashMap<>();

    /// Indices of sites for the shim: exits before entries, so that no entry lacks its exit; and entries only.
    private final long exits;

    private final int exitCount;
    private final long entries;
    private final int entryCount;

    /// Recorded calls and their outcomes.
    ///
    /// @param calls     counted at entries
    /// @param returns   timed at exits
    /// @param unmatched calls without a seen exit, or without room, as counted by the session
    /// @param open      running calls
    record Tally(long calls, long returns, long unmatched, long open) {
        Tally minus(Tally before) {
            return new Tally(
                    calls - before.calls, returns - before.returns, unmatched - before.unmatched, open - before.open);
        }

        /// Calls with an unknown outcome.
        long lost() {
            return calls - returns - unmatched - open;
        }
    }

    /// Makes probes in all images of this process with sites.
    public ProbedLibrary(NativeApi api) throws IOException {
        this.api = api;
        header = api.session();
        threads = new ThreadBlocks(header);
        functions = new FunctionRecords(header);
        Memory.putInt(header + HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT);
        List<String> notes = new ArrayList<>();
        probes = new Probes(api, new Membarrier(api), true, CopiedCounts.NONE, ROOM, ALL, notes);
        if (!probes.follow() || probes.functionCount() == 0) {
            throw new IOException("no probe is found: " + notes);
        }
        List<Integer> exitSites = new ArrayList<>();
        List<Integer> entrySites = new ArrayList<>();
        for (int i = 0; i < probes.functionCount(); i++) {
            FunctionRecord function = functions.get(i);
            functionOfAddress.put(function.code(), i);
            for (int j = 0; j < function.exitSites() + function.entrySites(); j++) {
                (j < function.exitSites() ? exitSites : entrySites)
                        .add(Memory.getInt(function.siteList() + (long) j * Integer.BYTES));
            }
        }
        exits = indices(exitSites);
        exitCount = exitSites.size();
        entries = indices(entrySites);
        entryCount = entrySites.size();
    }

    private static long indices(List<Integer> sites) {
        long indices = Arena.global()
                .allocate(ValueLayout.JAVA_INT, Math.max(1, sites.size()))
                .address();
        for (int i = 0; i < sites.size(); i++) {
            Memory.putInt(indices + (long) i * Integer.BYTES, sites.get(i));
        }
        return indices;
    }

    /// Entries and exits.
    int probeCount() {
        return probes.siteCount();
    }

    /// Index of the function at `address`.
    public int function(long address) {
        return Objects.requireNonNull(functionOfAddress.get(address), "a function without probes");
    }

    /// What runs at the probes besides the recorder.
    public Snippets snippets() {
        return probes.snippets();
    }

    /// Probes of a function for snippets: its entry, then its only return.
    public int[] probesOf(int function) {
        FunctionRecord record = functions.get(function);
        long list = record.siteList();
        int exits = record.exitSites();
        int entry = Memory.getInt(list + (long) exits * Integer.BYTES);
        // The return of a whole function is the site after its entry.
        return new int[] {entry, exits == 0 ? entry + 1 : Memory.getInt(list)};
    }

    /// Switches every probe.
    void toggleAll(boolean on) {
        togglePart(1, on);
    }

    /// Switches the probes of the functions found first.
    ///
    /// @param part fraction of the functions, at most 1
    void togglePart(double part, boolean on) {
        int someExits = (int) Math.round(part * exitCount);
        int someEntries = (int) Math.round(part * entryCount);
        long stores = on
                ? api.toggle(exits, someExits, true) + api.toggle(entries, someEntries, true)
                : api.toggle(entries, someEntries, false) + api.toggle(exits, someExits, false);
        if (stores != someExits + someEntries) {
            throw new IllegalStateException("only " + stores + " stores were made");
        }
    }

    /// Switches the probes of one function.
    void toggle(int function, boolean on) {
        FunctionRecord record = functions.get(function);
        long list = record.siteList();
        int ownExits = record.exitSites();
        int ownEntries = record.entrySites();
        if (on) {
            long unused = api.toggle(list, ownExits + ownEntries, true);
        } else {
            long unused = api.toggle(list + (long) ownExits * Integer.BYTES, ownEntries, false)
                    + api.toggle(list, ownExits, false);
        }
    }

    /// Bytes of the session that are in use.
    long sessionBytes() {
        return Memory.getLong(header + HeaderDescriptor.ARENA_NEXT);
    }

    /// Calls of each function, counted at entries; by index.
    long[] calls() {
        long[] calls = new long[probes.functionCount()];
        for (ThreadBlock thread : threads) {
            long counters = thread.callsAcquire();
            for (int i = 0; i < calls.length; i++) {
                calls[i] += Memory.getLong(counters + (long) i * Long.BYTES);
            }
        }
        return calls;
    }

    /// Calls of each function that were timed; by index.
    long[] returns() {
        long[] returns = new long[probes.functionCount()];
        for (ThreadBlock thread : threads) {
            long rows = thread.rows();
            for (int i = 0; i < returns.length; i++) {
                long row = Memory.getLong(rows + (long) i * Long.BYTES);
                returns[i] += row == 0 ? 0 : Memory.getLong(row + RowDescriptor.COUNT);
            }
        }
        return returns;
    }

    /// All of them together; of threads that have ended as well.
    Tally tally() {
        long unmatched = 0;
        long open = 0;
        for (ThreadBlock thread : threads) {
            unmatched += thread.unrecorded();
            if (thread.isLiveAcquire()) {
                open += thread.openCalls();
            }
        }
        return new Tally(sum(calls()), sum(returns()), unmatched, open);
    }

    /// Waits until all threads have returned their blocks, shortly after their end in Java.
    void awaitDetached() {
        long deadline = System.nanoTime() + DETACH_NANOS_MAX;
        while (isAnyLive()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("threads that have ended keep their blocks");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private boolean isAnyLive() {
        boolean live = false;
        for (ThreadBlock thread : threads) {
            live |= thread.isLiveAcquire();
        }
        return live;
    }

    private static long sum(long[] values) {
        long sum = 0;
        for (long value : values) {
            sum += value;
        }
        return sum;
    }
}
