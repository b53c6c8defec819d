package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.layout.PcNodeDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.profiler.figures.Confidence;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Reads where the kernel's sampling clock found the program's threads, and their call paths.
///
/// Counters are read one after the other while they grow, so the frames' counters may exceed their total.
final class PcSamplesReader {
    /// Upper limit of a plausible sampling period.
    private static final long PERIOD_NANOS_MAX = 10_000_000_000L;

    /// More than a copy of a stack can hold.
    private static final int DEPTH_MAX = 1024;

    private final SessionBytes bytes;
    private final CpuSamples samples;
    private final PcFrames frames;

    /// Offset of the table, 0 if there is none.
    private final long table;

    /// By node: its parent, its frame, and samples on it alone.
    private final int[] parents;

    private final int[] ofFrames;
    private final long[] counts;

    /// By node: nanoseconds that threads were off the processors on it.
    private final long[] waits;

    /// @param functions all functions of the session, in the order of their numbers
    /// @param address   of the samples, 0 if there are none
    PcSamplesReader(SessionBytes bytes, List<FunctionProfile> functions, long address) throws IOException {
        this.bytes = bytes;
        int nodes = 0;
        table = address == 0 ? 0 : bytes.offset(address, PcSamplesDescriptor.SIZE, "the table of CPU samples");
        if (table == 0) {
            samples = CpuSamples.NONE;
            frames = new PcFrames(bytes, List.of(), 0, 0);
        } else {
            bytes.claim(PcSamplesDescriptor.SIZE);
            // A node is published after its frame.
            nodes = count(table + PcSamplesDescriptor.NODE_COUNT, PcSamplesDescriptor.PC_NODES, "call paths");
            int size = count(table + PcSamplesDescriptor.FRAME_COUNT, PcSamplesDescriptor.PC_FRAMES, "pieces of code");
            frames = new PcFrames(bytes, functions, table + PcSamplesDescriptor.FRAMES, size);
            samples = new CpuSamples(
                    period(table),
                    bytes.getCounter(table + PcSamplesDescriptor.SAMPLES),
                    weight(table),
                    frames.inProbes(),
                    frames.elsewhere(),
                    bytes.getCounter(table + PcSamplesDescriptor.LOST),
                    images(),
                    bytes.getCounter(table + PcSamplesDescriptor.CUT),
                    bytes.getCounter(table + PcSamplesDescriptor.NO_TABLE),
                    bytes.getCounter(table + PcSamplesDescriptor.LEFT_OUT));
        }
        parents = new int[nodes];
        ofFrames = new int[nodes];
        counts = new long[nodes];
        waits = new long[nodes];
        if (nodes > 0) {
            readNodes(table);
        }
    }

    /// The totals of the program.
    CpuSamples samples() {
        return samples.isEmpty() ? CpuSamples.NONE : samples;
    }

    private void readNodes(long at) throws IOException {
        int[] depths = new int[parents.length];
        PcRows rows = new PcRows(bytes, at + PcSamplesDescriptor.NODES, PcNodeDescriptor.SIZE, "call paths");
        for (int i = 0; i < parents.length; i++) {
            long row = rows.at(i);
            counts[i] = bytes.getCounter(row + PcNodeDescriptor.SAMPLES);
            waits[i] = bytes.getCounter(row + PcNodeDescriptor.WAITS);
            parents[i] = bytes.getInt(row + PcNodeDescriptor.PARENT);
            ofFrames[i] = bytes.getInt(row + PcNodeDescriptor.FRAME);
            if (i > 0 && (parents[i] < 0 || parents[i] >= i || depths[parents[i]] == DEPTH_MAX)) {
                throw bytes.damaged("a call path goes on from " + Integer.toUnsignedString(parents[i]));
            }
            if (ofFrames[i] < 0 || ofFrames[i] >= frames.size()) {
                throw bytes.damaged("a call path ends in " + Integer.toUnsignedString(ofFrames[i]) + " of "
                        + frames.size() + " pieces of code");
            }
            depths[i] = i == 0 ? 0 : depths[parents[i]] + 1;
        }
    }

    /// The functions with their CPU time, except those whose figures are withheld.
    ///
    /// @param functions all functions of the session, in the order of their numbers
    List<FunctionProfile> withCpu(List<FunctionProfile> functions) {
        if (samples.isEmpty()) {
            return functions;
        }
        long[] own = frames.ofFunctions();
        long[] ofAll = withCallees(own);
        List<FunctionProfile> known = new ArrayList<>(functions.size());
        for (int i = 0; i < functions.size(); i++) {
            FunctionProfile function = functions.get(i);
            known.add(
                    ofAll[i] == 0 || function.damage() != null
                            ? function
                            : function.withCpu(new FunctionProfile.Times(
                                    nanos(ofAll[i]), error(ofAll[i]), nanos(own[i]), error(own[i]))));
        }
        return known;
    }

    /// By function: samples on paths that contain it, each counted once even if recursion puts it there
    /// several times. At least its own samples, some of which may have no path for lack of room.
    private long[] withCallees(long[] own) {
        long[] all = counts.clone();
        for (int i = all.length - 1; i > 0; i--) {
            all[parents[i]] += all[i];
        }
        long[] samplesOf = new long[own.length];
        for (int i = 1; i < all.length; i++) {
            int function = frames.function(ofFrames[i]);
            if (function >= 0 && !isAbove(function, i)) {
                samplesOf[function] += all[i];
            }
        }
        Arrays.setAll(samplesOf, i -> Math.max(samplesOf[i], own[i]));
        return samplesOf;
    }

    private boolean isAbove(int function, int node) {
        for (int i = parents[node]; i > 0; i = parents[i]) {
            if (frames.function(ofFrames[i]) == function) {
                return true;
            }
        }
        return false;
    }

    private OptionalLong nanos(long count) {
        return count == 0 ? OptionalLong.empty() : OptionalLong.of(Math.multiplyExact(count, samples.periodNanos()));
    }

    private OptionalDouble error(long count) {
        return count == 0 ? OptionalDouble.empty() : OptionalDouble.of(Confidence.ofSamples(count / samples.weight()));
    }

    /// The paths of all samples.
    ///
    /// @param functions in the order of their numbers, as they are to appear in the result
    /// @param tscHz     frequency of the session's clock; if it is unknown, the tree has no single samples
    CallTree paths(List<FunctionProfile> functions, OptionalDouble tscHz) throws IOException {
        if (samples.isEmpty() && Arrays.stream(waits).allMatch(nanos -> nanos == 0)) {
            return CallTree.NONE;
        }
        CodeFrame[] told = frames.told(functions);
        CallTree tree = new CallTree(samples.periodNanos());
        CallTree.Node[] nodes = new CallTree.Node[parents.length];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = i == 0 ? tree.root() : nodes[parents[i]].child(told[ofFrames[i]]);
            nodes[i].add(counts[i]);
            nodes[i].addWait(waits[i]);
        }
        if (tscHz.isPresent()) {
            new SampleLogReader(bytes, table).read(tree, nodes, tscHz.getAsDouble() / 1e9);
            tree.waited(SlowCallReader.waits(bytes, nodes, tscHz.getAsDouble() / 1e9));
        }
        return tree.complete();
    }

    /// The counts of an event, in a session of events.
    EventCounts events() throws IOException {
        if (table == 0) {
            return EventCounts.NONE;
        }
        KernelEvent event = KernelEvent.ofKernel(bytes.getLong(table + PcSamplesDescriptor.EVENT));
        if (event == null) {
            throw bytes.damaged("it counts an unknown event");
        }
        CodeFrame[] told = frames.told(List.of());
        CallTree tree = new CallTree(1);
        CallTree.Node[] nodes = new CallTree.Node[parents.length];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = i == 0 ? tree.root() : nodes[parents[i]].child(told[ofFrames[i]]);
            nodes[i].add(counts[i]);
        }
        return new EventCounts(
                event.word(),
                Arrays.stream(counts).reduce(0, Math::addExact),
                bytes.getCounter(table + PcSamplesDescriptor.LOST) + samples.leftOut(),
                bytes.getCounter(table + PcSamplesDescriptor.WITHOUT_STACK),
                tree.complete());
    }

    private int count(long at, int most, String what) throws IOException {
        return bytes.checkedCount(bytes.getInt(at), most, what);
    }

    private double weight(long at) throws IOException {
        double all = bytes.getCounter(at + PcSamplesDescriptor.SAMPLES);
        return Math.max(1, bytes.getCounter(at + PcSamplesDescriptor.SQUARES) / Math.max(1, all));
    }

    private long period(long at) throws IOException {
        long period = bytes.getLong(at + PcSamplesDescriptor.PERIOD_NANOS);
        if (period <= 0 || period > PERIOD_NANOS_MAX) {
            throw bytes.damaged("CPU samples are " + Long.toUnsignedString(period) + " ns apart");
        }
        return period;
    }

    private List<CpuSamples.OfImage> images() {
        Map<String, Long> byImage = new HashMap<>();
        frames.notProbed((image, count) -> byImage.merge(image, count, Long::sum));
        return byImage.entrySet().stream()
                .map(of -> new CpuSamples.OfImage(of.getKey(), of.getValue()))
                .sorted(Comparator.comparingLong(CpuSamples.OfImage::samples)
                        .reversed()
                        .thenComparing(CpuSamples.OfImage::image))
                .toList();
    }
}
