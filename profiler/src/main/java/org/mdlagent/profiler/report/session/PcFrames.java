package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.profiler.report.file.FunctionNames;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.text.BaseName;

/// The frames that the kernel's sampling clock found threads in: probed functions, and names of other code.
///
/// Several frames may belong to one function: code sampled before it had a probe, and cold parts that
/// compilers place separately.
final class PcFrames {
    private static final String MADE = "[code made at run time]";
    private static final String COLD = ".cold";

    private final SessionBytes bytes;
    private final int functionCount;
    private final List<Frame> frames = new ArrayList<>();

    /// @param function number of the probed function, below 0 for none
    /// @param told     description of other code
    private record Frame(int function, CodeFrame told, long samples) {}

    /// @param chunks offset of the chunk addresses of the rows
    PcFrames(SessionBytes bytes, List<FunctionProfile> functions, long chunks, int size) throws IOException {
        this.bytes = bytes;
        functionCount = functions.size();
        PcRows rows = new PcRows(bytes, chunks, PcFrameDescriptor.SIZE, "code");
        List<Long> others = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            long row = rows.at(i);
            frames.add(read(row, bytes.getCounter(row + PcFrameDescriptor.SAMPLES)));
            others.add(row);
        }
        join(functions, others);
    }

    private Frame read(long row, long samples) throws IOException {
        int function = bytes.getInt(row + PcFrameDescriptor.FUNCTION);
        String image = bytes.string(bytes.getInt(row + PcFrameDescriptor.IMAGE));
        CodeFrame told = switch (function) {
            case PcFrameDescriptor.CODE_ELSEWHERE -> CodeFrame.ELSEWHERE;
            case PcFrameDescriptor.CODE_PROBES -> CodeFrame.PROBES;
            case PcFrameDescriptor.CODE_CUT -> CodeFrame.CUT;
            case PcFrameDescriptor.CODE_NAMED -> CodeFrame.of(image, MADE);
            case PcFrameDescriptor.CODE_IMAGE -> CodeFrame.of("", image);
            default -> {
                if (function < 0) {
                    throw bytes.damaged("code of kind " + function);
                }
                // A function added since the functions were read; the next read has it.
                yield CodeFrame.ELSEWHERE;
            }
        };
        return new Frame(function < functionCount ? function : PcFrameDescriptor.CODE_ELSEWHERE, told, samples);
    }

    /// Names image code and attributes it to functions. Frames with equal names are merged.
    private void join(List<FunctionProfile> functions, List<Long> rows) throws IOException {
        Set<String> images = new HashSet<>();
        frames.forEach(frame -> images.add(frame.told.image()));
        Map<CodeFrame, Integer> numbers = new HashMap<>();
        for (int i = 0; i < functions.size(); i++) {
            FunctionProfile function = functions.get(i);
            if (images.contains(function.image())) {
                numbers.put(CodeFrame.of(function.symbol(), function.image()), i);
            }
        }
        Map<CodeFrame, CodeFrame> known = new HashMap<>();
        for (int i = 0; i < frames.size(); i++) {
            Frame frame = frames.get(i);
            if (frame.function == PcFrameDescriptor.CODE_IMAGE) {
                String image = frame.told.image();
                FunctionNames.Found found = name(image, rows.get(i));
                Integer number = numbers.get(CodeFrame.of(found.symbol(), image));
                CodeFrame told = CodeFrame.of(found.name(), image);
                CodeFrame first = known.computeIfAbsent(told, same -> same);
                frames.set(i, new Frame(number == null ? frame.function : number, first, frame.samples));
            } else if (frame.function == PcFrameDescriptor.CODE_NAMED) {
                CodeFrame first = known.computeIfAbsent(frame.told, same -> same);
                frames.set(i, new Frame(frame.function, first, frame.samples));
            }
        }
    }

    private FunctionNames.Found name(String image, long row) throws IOException {
        String build = bytes.string(bytes.getInt(row + PcFrameDescriptor.BUILD));
        long address = bytes.getLong(row + PcFrameDescriptor.ADDRESS);
        FunctionNames.Found found = build.isEmpty() ? null : bytes.names().around(image, build, address);
        if (found == null) {
            String place = BaseName.of(image) + "+0x" + Long.toHexString(address);
            return new FunctionNames.Found(place, place);
        }
        return new FunctionNames.Found(whole(found.name()), whole(found.symbol()));
    }

    /// The function whose cold part a symbol names.
    private static String whole(String name) {
        return name.endsWith(COLD) ? name.substring(0, name.length() - COLD.length()) : name;
    }

    int size() {
        return frames.size();
    }

    /// Number of the probed function that contains the code, below 0 for none.
    int function(int frame) {
        return frames.get(frame).function;
    }

    /// By function: samples in its own code.
    long[] ofFunctions() {
        long[] samples = new long[functionCount];
        for (Frame frame : frames) {
            if (frame.function >= 0) {
                samples[frame.function] += frame.samples;
            }
        }
        return samples;
    }

    long inProbes() {
        return samples(CodeFrame.PROBES);
    }

    long elsewhere() {
        return samples(CodeFrame.ELSEWHERE);
    }

    @SuppressWarnings("ReferenceEquality") // there is one of each
    private long samples(CodeFrame special) {
        return frames.stream()
                .filter(frame -> frame.function < 0 && frame.told == special)
                .mapToLong(Frame::samples)
                .sum();
    }

    /// Passes the samples in code without probes, by image.
    void notProbed(ObjLongConsumer<String> consumer) {
        for (Frame frame : frames) {
            if (frame.function < 0 && !frame.told.image().isEmpty() && frame.samples > 0) {
                consumer.accept(frame.told.image(), frame.samples);
            }
        }
    }

    /// By frame: its description. Frames of one function are merged.
    ///
    /// @param functions in the order of their numbers, as they are to appear in the result
    CodeFrame[] told(List<FunctionProfile> functions) {
        @Nullable CodeFrame[] ofFunctions = new CodeFrame[functionCount];
        CodeFrame[] told = new CodeFrame[frames.size()];
        for (int i = 0; i < told.length; i++) {
            Frame frame = frames.get(i);
            if (frame.function < 0) {
                told[i] = frame.told;
                continue;
            }
            CodeFrame known = ofFunctions[frame.function];
            if (known == null) {
                known = CodeFrame.of(functions.get(frame.function));
                ofFunctions[frame.function] = known;
            }
            told[i] = known;
        }
        return told;
    }
}
