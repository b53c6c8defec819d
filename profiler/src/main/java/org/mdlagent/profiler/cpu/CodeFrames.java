package org.mdlagent.profiler.cpu;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.arch.shim.PcSampler;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.calls.CodePlaces;

/// The frames of the session's call paths: one for each probed function, each unwind description of other
/// code, and each name of code generated at run time.
final class CodeFrames {
    /// Minimum interval between reads of a perf map: it grows by a line for each function.
    private static final long LOOK_NANOS = 1_000_000_000;

    /// The vDSO, which is no file.
    private static final String VDSO = "[vdso]";

    private final Probes probes;
    private final PcSampler sampler;

    /// By function index; 0 where there is none yet.
    private int[] ofFunctions = {};

    private final Map<String, Image> images = new HashMap<>();
    private final Map<Code, Integer> ofCode = new HashMap<>();
    private final Map<String, Integer> ofNames = new HashMap<>();

    /// By process: the code it has generated, from its perf map.
    private final Map<Integer, Made> made = new HashMap<>();

    private long lookedNanos;

    private static final class Made {
        final PerfMap map = new PerfMap();
        long size;
    }

    /// @param path  offset of the session's string
    /// @param build offset of the session's string
    private record Image(int path, int build) {}

    private record Code(String image, long address) {
        // Written out: the compiler's links method handles, which costs milliseconds at each start.
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Code code && address == code.address && image.equals(code.image);
        }

        @Override
        public int hashCode() {
            return 31 * image.hashCode() + Long.hashCode(address);
        }
    }

    CodeFrames(Probes probes, PcSampler sampler) {
        this.probes = probes;
        this.sampler = sampler;
    }

    /// The frame of a function's own code; 0 if no sample was there.
    int ofFunction(int function) {
        return function < ofFunctions.length ? ofFunctions[function] : 0;
    }

    PcSampler.Frames of(PcSampler.Place place) {
        CodePlaces.Place code = probes.codePlaces().at(place.address());
        if (code.function() == CodePlaces.OURS) {
            return new PcSampler.Frames(PcSampler.PROBES);
        }
        if (code.function() != CodePlaces.NONE) {
            int outer = code.outer() == CodePlaces.NONE ? PcSampler.Frames.NONE : function(code.outer());
            return new PcSampler.Frames(function(code.function()), outer);
        }
        if (!code.image().isEmpty()) {
            long first = place.start() == 0 ? place.address() : place.start();
            return new PcSampler.Frames(code(new Code(code.image(), first - place.bias())));
        }
        if (place.start() != 0) {
            return new PcSampler.Frames(code(new Code(VDSO, place.start() - place.bias())));
        }
        String name = made.computeIfAbsent(place.pid(), this::made).map.at(place.address());
        return new PcSampler.Frames(name == null ? PcSampler.ELSEWHERE : ofNames.computeIfAbsent(name, this::named));
    }

    /// Drops the address cache: addresses may belong to other functions now.
    void forget() {
        sampler.forget();
    }

    /// Rereads perf maps that have changed.
    void refresh() {
        long now = System.nanoTime();
        if (made.isEmpty() || now - lookedNanos < LOOK_NANOS) {
            return;
        }
        lookedNanos = now;
        made.forEach((pid, known) -> {
            if (sampler.codeMapSize(pid) != known.size) {
                read(pid, known);
                forget();
            }
        });
    }

    private Made made(int pid) {
        Made known = new Made();
        read(pid, known);
        return known;
    }

    private void read(int pid, Made known) {
        byte[] text = sampler.codeMap(pid, PerfMap.bytesMax());
        known.size = sampler.codeMapSize(pid);
        known.map.parse(text);
    }

    private int function(int function) {
        if (function >= ofFunctions.length) {
            ofFunctions = Arrays.copyOf(ofFunctions, Math.max(function + 1, 2 * ofFunctions.length));
        }
        if (ofFunctions[function] == 0) {
            ofFunctions[function] = sampler.add(function, 0, 0, 0);
        }
        return ofFunctions[function];
    }

    private int code(Code code) {
        return ofCode.computeIfAbsent(code, absent -> {
            Image image = images.computeIfAbsent(code.image, this::image);
            return sampler.add(PcFrameDescriptor.CODE_IMAGE, image.path, image.build, code.address);
        });
    }

    private Image image(String path) {
        String build = build(path);
        return new Image(probes.string(path), build == null ? 0 : probes.string(build));
    }

    private static @Nullable String build(String path) {
        try (ElfFile file = ElfFile.open(Path.of(path))) {
            return file.buildId();
        } catch (IOException | InvalidPathException e) {
            return null; // perf maps describe its code
        }
    }

    /// The image with most samples outside probed functions; null if these are fewer than `least`.
    @Nullable
    String hottest(IntToLongFunction samples, double least) {
        Map<String, Long> sums = new HashMap<>();
        ofCode.forEach((code, frame) -> sums.merge(code.image, samples.applyAsLong(frame), Long::sum));
        return sums.entrySet().stream()
                .filter(sum -> sum.getValue() >= least)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    private int named(String name) {
        return sampler.add(PcFrameDescriptor.CODE_NAMED, probes.string(name), 0, 0);
    }
}
