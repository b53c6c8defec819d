package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.zip.GZIPOutputStream;
import org.mdlagent.profiler.report.codec.ProtobufWriter;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.text.ForeignText;

/// The report for pprof: `profile.proto` of github.com/google/pprof, compressed with gzip.
///
/// Each called function is a sample whose stack is the function alone, with its calls, its total time and, if
/// known, its self time. If CPU time was sampled, each call path is a separate sample with the CPU time of
/// its last function itself. The format cannot express unknown values; they are 0.
public final class PprofReport {
    private final ProtobufWriter message = new ProtobufWriter();
    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<String, Integer> mappings = new LinkedHashMap<>();

    /// Ids of functions and of their locations, keyed by function profile, or by frame where there is none.
    private final IdentityHashMap<Object, Long> ids = new IdentityHashMap<>();

    private PprofReport() {
        string("");
    }

    /// Writes the first `limit` functions of a profile, in the given order; `out` stays open.
    public static void write(Profile profile, ProfileOrder order, int limit, OutputStream out) throws IOException {
        GZIPOutputStream compressed = new GZIPOutputStream(out);
        compressed.write(new PprofReport().encode(profile, order.first(limit, profile.functions())));
        compressed.finish();
    }

    private byte[] encode(Profile profile, List<FunctionProfile> functions) {
        List<SampleType> types = types(profile);
        for (SampleType type : types) {
            message.field(ProfileField.SAMPLE_TYPE, valueType(type.name, type.unit));
        }
        for (FunctionProfile function : functions) {
            if (function.calls() > 0) {
                sample(
                        List.of(CodeFrame.of(function)),
                        types.stream().mapToLong(type -> type.value.applyAsLong(function)));
            }
        }
        for (CallTree.Node node : profile.paths().nodes()) {
            if (node.selfNanos() > 0) {
                sample(node.path(), types.stream().mapToLong(type -> type.ofPaths ? node.selfNanos() : 0));
            }
        }
        facts(profile, types.getLast());
        mappings.forEach((image, mapping) -> message.field(ProfileField.MAPPING, mapping(mapping, image)));
        strings.keySet().forEach(text -> message.field(ProfileField.STRING_TABLE, text));
        return message.toByteArray();
    }

    private static List<SampleType> types(Profile profile) {
        List<SampleType> types = new ArrayList<>();
        types.add(new SampleType("calls", "count", false, FunctionProfile::calls));
        types.add(new SampleType(
                "total", "nanoseconds", false, function -> function.totalNanos().orElse(0)));
        if (profile.functions().stream().anyMatch(f -> f.shownSelfNanos().isPresent())) {
            types.add(new SampleType(
                    "self",
                    "nanoseconds",
                    false,
                    function -> function.shownSelfNanos().orElse(0)));
        }
        if (!profile.cpu().isEmpty()) {
            types.add(new SampleType("cpu", "nanoseconds", true, function -> 0));
        }
        return types;
    }

    /// @param path outermost frame first
    private void sample(List<CodeFrame> path, LongStream values) {
        long[] stack = path.reversed().stream().mapToLong(this::id).toArray();
        message.field(ProfileField.SAMPLE, new ProtobufWriter().packed(1, stack).packed(2, values.toArray()));
    }

    private long id(CodeFrame frame) {
        Object key = frame.function() == null ? frame : frame.function();
        Long known = ids.get(key);
        if (known != null) {
            return known;
        }
        long id = ids.size() + 1L;
        ids.put(key, id);
        describe(id, frame);
        return id;
    }

    private void describe(long id, CodeFrame frame) {
        String symbol =
                frame.function() == null ? frame.name() : frame.function().symbol();
        message.field(
                ProfileField.LOCATION,
                new ProtobufWriter()
                        .field(1, id)
                        .field(2, mappings.computeIfAbsent(frame.image(), image -> mappings.size() + 1))
                        .field(4, new ProtobufWriter().field(1, id).field(2, frame.line())));
        message.field(
                ProfileField.FUNCTION,
                new ProtobufWriter()
                        .field(1, id)
                        .field(2, string(frame.name()))
                        .field(3, string(symbol))
                        .field(4, string(frame.file() == null ? "" : frame.file()))
                        .field(5, frame.line()));
    }

    private void facts(Profile profile, SampleType shownFirst) {
        SessionFacts session = profile.session();
        TimeRange range = profile.range();
        message.field(ProfileField.TIME_NANOS, nanos(range == null ? session.started() : range.from()));
        message.field(ProfileField.DURATION_NANOS, session.elapsedNanos().orElse(0));
        message.field(ProfileField.COMMENT, string("mdl session " + session.id()));
        message.field(ProfileField.DEFAULT_SAMPLE_TYPE, string(shownFirst.name));
    }

    private ProtobufWriter mapping(int id, String image) {
        return new ProtobufWriter()
                .field(1, id)
                .field(5, string(image))
                // Functions, files and lines are resolved: pprof has nothing to look up.
                .field(7, 1)
                .field(8, 1)
                .field(9, 1);
    }

    private ProtobufWriter valueType(String type, String unit) {
        return new ProtobufWriter().field(1, string(type)).field(2, string(unit));
    }

    /// The index of a text in the string table, whose first entry is "".
    private int string(String text) {
        return strings.computeIfAbsent(ForeignText.printable(text), absent -> strings.size());
    }

    private static long nanos(Instant instant) {
        return TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano();
    }

    /// @param ofPaths whether call paths have this value
    private record SampleType(String name, String unit, boolean ofPaths, ToLongFunction<FunctionProfile> value) {}

    /// Field numbers of `Profile`.
    private static final class ProfileField {
        static final int SAMPLE_TYPE = 1;
        static final int SAMPLE = 2;
        static final int MAPPING = 3;
        static final int LOCATION = 4;
        static final int FUNCTION = 5;
        static final int STRING_TABLE = 6;
        static final int TIME_NANOS = 9;
        static final int DURATION_NANOS = 10;
        static final int COMMENT = 13;
        static final int DEFAULT_SAMPLE_TYPE = 14;
    }
}
