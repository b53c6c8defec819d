package org.mdlagent.profiler.report;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.zip.GZIPOutputStream;

/// The report for pprof: `profile.proto` of github.com/google/pprof, compressed with gzip.
///
/// Each called function is a sample whose stack is the function alone, with its calls, its total time and, where the
/// session knows it, its self time. The format has no word for "not known": that is 0 here.
public final class PprofReport {
    private final ProtobufWriter message = new ProtobufWriter();
    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<String, Integer> mappings = new LinkedHashMap<>();

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
        int id = 0;
        for (FunctionProfile function : functions) {
            if (function.calls() > 0) {
                function(++id, function, types);
            }
        }
        facts(profile.session(), types.getLast());
        mappings.forEach((image, mapping) -> message.field(ProfileField.MAPPING, mapping(mapping, image)));
        strings.keySet().forEach(text -> message.field(ProfileField.STRING_TABLE, text));
        return message.toByteArray();
    }

    private static List<SampleType> types(Profile profile) {
        List<SampleType> types = new ArrayList<>();
        types.add(new SampleType("calls", "count", FunctionProfile::calls));
        types.add(new SampleType(
                "total", "nanoseconds", function -> function.totalNanos().orElse(0)));
        if (profile.functions().stream().anyMatch(f -> f.selfNanos().isPresent())) {
            types.add(new SampleType(
                    "self", "nanoseconds", function -> function.selfNanos().orElse(0)));
        }
        return types;
    }

    private void function(int id, FunctionProfile function, List<SampleType> types) {
        long[] values = types.stream()
                .mapToLong(type -> type.value.applyAsLong(function))
                .toArray();
        message.field(ProfileField.SAMPLE, new ProtobufWriter().packed(1, id).packed(2, values));
        message.field(
                ProfileField.LOCATION,
                new ProtobufWriter()
                        .field(1, id)
                        .field(2, mappings.computeIfAbsent(function.image(), image -> mappings.size() + 1))
                        .field(4, new ProtobufWriter().field(1, id).field(2, function.line())));
        message.field(
                ProfileField.FUNCTION,
                new ProtobufWriter()
                        .field(1, id)
                        .field(2, string(function.name()))
                        .field(3, string(function.symbol()))
                        .field(4, string(function.file() == null ? "" : function.file()))
                        .field(5, function.line()));
    }

    private void facts(SessionFacts session, SampleType shownFirst) {
        message.field(ProfileField.TIME_NANOS, nanos(session.started()));
        message.field(ProfileField.DURATION_NANOS, session.elapsedNanos().orElse(0));
        message.field(ProfileField.COMMENT, string("mdl session " + session.id()));
        message.field(ProfileField.DEFAULT_SAMPLE_TYPE, string(shownFirst.name));
    }

    private ProtobufWriter mapping(int id, String image) {
        return new ProtobufWriter()
                .field(1, id)
                .field(5, string(image))
                // Functions, files and lines are known: nothing is left to look up.
                .field(7, 1)
                .field(8, 1)
                .field(9, 1);
    }

    private ProtobufWriter valueType(String type, String unit) {
        return new ProtobufWriter().field(1, string(type)).field(2, string(unit));
    }

    /// The index of a text in the table of strings, whose first is "".
    private int string(String text) {
        return strings.computeIfAbsent(text, absent -> strings.size());
    }

    private static long nanos(Instant instant) {
        return TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano();
    }

    private record SampleType(String name, String unit, ToLongFunction<FunctionProfile> value) {}

    /// Numbers of the fields of `Profile`.
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
