package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.mdlagent.arch.layout.PcImageDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.profiler.estimate.Confidence;
import org.mdlagent.profiler.report.file.FunctionTable;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Reads where the kernel's clock found the program's threads.
///
/// Counters are read one after the other while they grow: those of the functions may come to more than that of all.
final class PcSamplesReader {
    /// Nobody samples as rarely.
    private static final long PERIOD_NANOS_MAX = 10_000_000_000L;

    private final SessionBytes bytes;
    private final CpuSamples samples;

    /// In each function's own code; none where the session has no samples.
    private final long[] ofFunctions;

    /// @param address of the samples, 0 where there are none
    PcSamplesReader(SessionBytes bytes, FunctionTable functions, long address) throws IOException {
        this.bytes = bytes;
        if (address == 0) {
            samples = CpuSamples.NONE;
            ofFunctions = new long[0];
            return;
        }
        long at = bytes.offset(address, PcSamplesDescriptor.SIZE, "the table of CPU samples");
        bytes.claim(PcSamplesDescriptor.SIZE);
        samples = new CpuSamples(
                period(at),
                bytes.getCounter(at + PcSamplesDescriptor.SAMPLES),
                weight(at),
                bytes.getCounter(at + PcSamplesDescriptor.PROBES),
                bytes.getCounter(at + PcSamplesDescriptor.ELSEWHERE),
                bytes.getCounter(at + PcSamplesDescriptor.LOST),
                images(at));
        ofFunctions = functions(bytes.getLong(at + PcSamplesDescriptor.FUNCTIONS), functions);
    }

    /// Of the whole program.
    CpuSamples samples() {
        return samples.isEmpty() ? CpuSamples.NONE : samples;
    }

    /// The functions with their CPU time, but those whose figures are withheld.
    ///
    /// @param functions all of the session, in the order of their numbers
    List<FunctionProfile> withCpu(List<FunctionProfile> functions) {
        if (samples.isEmpty()) {
            return functions;
        }
        List<FunctionProfile> known = new ArrayList<>(functions.size());
        for (int i = 0; i < functions.size(); i++) {
            FunctionProfile function = functions.get(i);
            long count = ofFunctions[i];
            known.add(
                    count == 0 || function.damage() != null
                            ? function
                            : function.withCpu(
                                    Math.multiplyExact(count, samples.periodNanos()),
                                    Confidence.ofSamples(count / samples.weight())));
        }
        return known;
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

    private List<CpuSamples.OfImage> images(long at) throws IOException {
        long count = bytes.getLong(at + PcSamplesDescriptor.IMAGE_COUNT);
        if (count < 0 || count > PcSamplesDescriptor.IMAGES_MAX) {
            throw bytes.damaged("it claims CPU samples of " + Long.toUnsignedString(count)
                    + " programs and libraries, with room for " + PcSamplesDescriptor.IMAGES_MAX);
        }
        List<CpuSamples.OfImage> images = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long row = at + PcSamplesDescriptor.IMAGES + i * PcImageDescriptor.SIZE;
            images.add(new CpuSamples.OfImage(
                    bytes.string(bytes.getInt(row + PcImageDescriptor.PATH)),
                    bytes.getCounter(row + PcImageDescriptor.SAMPLES)));
        }
        images.sort(Comparator.comparingLong(CpuSamples.OfImage::samples)
                .reversed()
                .thenComparing(CpuSamples.OfImage::image));
        return images;
    }

    private long[] functions(long address, FunctionTable functions) throws IOException {
        long size = (long) functions.capacity() * Long.BYTES;
        long table = bytes.offset(address, size, "the functions' table of CPU samples");
        bytes.claim(size);
        long[] counts = new long[functions.count()];
        bytes.getLongs(table, counts);
        for (long count : counts) {
            bytes.counted(count);
        }
        return counts;
    }
}
