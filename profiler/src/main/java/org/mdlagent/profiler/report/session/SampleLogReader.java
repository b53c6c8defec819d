package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.PcSampleDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.arch.layout.PcThreadDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.SampledThread;

/// Reads the single samples of CPU time, and their threads.
///
/// Guarantees G1 no samples are read while the agent thins out a full log: `log_version` is odd or changes then
final class SampleLogReader {
    /// Each thinning halves the log, so 40 of them cover years of samples.
    private static final int THINNED_MAX = 40;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SessionBytes bytes;
    private final long table;

    /// @param table offset of the samples
    SampleLogReader(SessionBytes bytes, long table) {
        this.bytes = bytes;
        this.table = table;
    }

    /// The log's fields in the table, all read at one instant.
    private record Log(int count, int thinned, int version) {}

    /// Adds the samples and their threads to a tree.
    ///
    /// @param nodes of the tree, by their numbers in the session
    void read(CallTree tree, CallTree.Node[] nodes, double ticksPerNano) throws IOException {
        Log log = log();
        List<SampledThread> threads = threads();
        List<CallTree.Sample> samples = samples(log.count, nodes, threads.size(), ticksPerNano);
        if (log.version % 2 == 0 && log().version == log.version) {
            tree.log(threads, samples, 1L << log.thinned);
        }
    }

    private Log log() throws IOException {
        ByteBuffer words = bytes.copy(table + PcSamplesDescriptor.OPENED_TSC, (int)
                (PcSamplesDescriptor.LOG - PcSamplesDescriptor.OPENED_TSC));
        int thinned = word(words, PcSamplesDescriptor.THINNED);
        if (thinned < 0 || thinned > THINNED_MAX) {
            throw bytes.damaged("samples were dropped " + Integer.toUnsignedString(thinned) + " times");
        }
        int count =
                bytes.checkedCount(word(words, PcSamplesDescriptor.LOG_COUNT), PcSamplesDescriptor.PC_LOG, "samples");
        return new Log(count, thinned, word(words, PcSamplesDescriptor.LOG_VERSION));
    }

    private static int word(ByteBuffer words, long field) {
        return words.getInt((int) (field - PcSamplesDescriptor.OPENED_TSC));
    }

    private List<SampledThread> threads() throws IOException {
        int count = bytes.checkedCount(
                bytes.getInt(table + PcSamplesDescriptor.THREAD_COUNT),
                PcSamplesDescriptor.PC_THREADS,
                "sampled threads");
        PcRows rows =
                new PcRows(bytes, table + PcSamplesDescriptor.THREADS, PcThreadDescriptor.SIZE, "sampled threads");
        List<SampledThread> threads = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long row = rows.at(i);
            threads.add(new SampledThread(
                    bytes.getInt(row + PcThreadDescriptor.TID),
                    bytes.getInt(row + PcThreadDescriptor.PID),
                    bytes.text(row + PcThreadDescriptor.NAME, PcThreadDescriptor.NAME_BYTES),
                    bytes.getCounter(row + PcThreadDescriptor.SAMPLES)));
        }
        return threads;
    }

    private List<CallTree.Sample> samples(int count, CallTree.Node[] nodes, int threads, double ticksPerNano)
            throws IOException {
        long opened = bytes.getLong(table + PcSamplesDescriptor.OPENED_TSC) - bytes.getLong(HeaderDescriptor.START_TSC);
        long openedNanos = Math.max(0, Math.round(opened / ticksPerNano));
        PcRows rows = new PcRows(bytes, table + PcSamplesDescriptor.LOG, PcSampleDescriptor.SIZE, "samples");
        List<CallTree.Sample> samples = new ArrayList<>(count);
        for (int first = 0; first < count; first += PcSamplesDescriptor.PC_CHUNK) {
            int length = Math.min(PcSamplesDescriptor.PC_CHUNK, count - first);
            ByteBuffer chunk = bytes.copy(rows.at(first), (int) (length * PcSampleDescriptor.SIZE));
            for (int row = 0; row < chunk.limit(); row += (int) PcSampleDescriptor.SIZE) {
                int node = chunk.getInt(row + (int) PcSampleDescriptor.NODE);
                int thread = chunk.getInt(row + (int) PcSampleDescriptor.THREAD);
                // A sample may refer to a path or thread added after those were read; the next read has it.
                if (node >= 0 && node < nodes.length && thread >= 0 && thread < threads) {
                    samples.add(new CallTree.Sample(
                            openedNanos + NANOS_PER_MILLI * millis(chunk, row),
                            thread,
                            nodes[node],
                            Integer.toUnsignedLong(chunk.getInt(row + (int) PcSampleDescriptor.WEIGHT)),
                            chunk.getLong(row + (int) PcSampleDescriptor.ADDRESS)));
                }
            }
        }
        return samples;
    }

    private static long millis(ByteBuffer chunk, int row) {
        return Integer.toUnsignedLong(chunk.getInt(row + (int) PcSampleDescriptor.MILLIS));
    }
}
