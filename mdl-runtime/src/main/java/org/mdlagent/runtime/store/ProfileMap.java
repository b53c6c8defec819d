package org.mdlagent.runtime.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.codec.RecordFormatException;
import org.mdlagent.profiler.report.profile.FunctionCodec;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunCodec;
import org.mdlagent.profiler.report.profile.RunProfile;

/// The content of a store's file: an off-heap map from build id, symbol and run to measurements.
///
/// | key | value |
/// | --- | --- |
/// | `runs` | number of runs: four bytes |
/// | `run`, n | the n-th ([RunCodec]) |
/// | build id, symbol, n, index among those with this symbol | a function in the n-th run ([FunctionCodec]) |
///
/// The parts of a key are separated by a character that no symbol contains.
final class ProfileMap implements AutoCloseable {
    private static final String SEPARATOR = "\0";
    private static final String RUNS = "runs";

    /// Entries occupy chunks of 64 bytes; the largest is a function with a name of hundreds of kilobytes.
    private static final int CHUNK_BYTES = 64;

    private static final int RUNS_MAX = 1 << 16;

    private final ChronicleMap<String, byte[]> map;

    private ProfileMap(ChronicleMap<String, byte[]> map) {
        this.map = map;
    }

    /// Opens a map that no other process uses.
    ///
    /// @throws RecordFormatException if [#create] did not make it
    static ProfileMap open(Path file) throws IOException {
        MapHeader.check(file);
        return new ProfileMap(builder().createPersistedTo(file.toFile()));
    }

    /// Creates a file with exactly these runs.
    static void create(Path file, List<RunProfile> runs) throws IOException {
        Map<String, byte[]> entries = entries(runs);
        long chunks = 0;
        for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
            chunks += 2 + (3L * entry.getKey().length() + entry.getValue().length) / CHUNK_BYTES;
        }
        ChronicleMapBuilder<String, byte[]> builder = builder()
                .entriesPerSegment(entries.size())
                .actualChunksPerSegmentTier(chunks)
                .actualChunkSize(CHUNK_BYTES);
        try (ChronicleMap<String, byte[]> map = builder.createPersistedTo(file.toFile())) {
            map.putAll(entries);
        }
    }

    private static ChronicleMapBuilder<String, byte[]> builder() {
        return ChronicleMapBuilder.of(String.class, byte[].class)
                .name("profiles")
                .actualSegments(1);
    }

    private static Map<String, byte[]> entries(List<RunProfile> runs) {
        Map<String, byte[]> entries = new HashMap<>();
        entries.put(RUNS, ByteBuffer.allocate(Integer.BYTES).putInt(runs.size()).array());
        for (int n = 0; n < runs.size(); n++) {
            Run run = runs.get(n).run();
            entries.put(runKey(n), RunCodec.bytes(run));
            for (FunctionProfile function : runs.get(n).functions()) {
                String build = run.build(function.image());
                int which = 0;
                while (entries.containsKey(key(build, function.symbol(), n, which))) {
                    which++;
                }
                entries.put(key(build, function.symbol(), n, which), FunctionCodec.bytes(function));
            }
        }
        return entries;
    }

    private static String runKey(int n) {
        return "run" + SEPARATOR + n;
    }

    private static String key(String build, String symbol, int n, int which) {
        return build + SEPARATOR + symbol + SEPARATOR + n + SEPARATOR + which;
    }

    /// The runs, in the given order.
    List<Run> runs() throws IOException {
        int count = ByteBuffer.wrap(required(RUNS)).getInt();
        if (count < 0 || count > RUNS_MAX) {
            throw new RecordFormatException("it claims " + count + " runs");
        }
        List<Run> runs = new ArrayList<>(count);
        for (int n = 0; n < count; n++) {
            runs.add(RunCodec.read(required(runKey(n))));
        }
        return runs;
    }

    private byte[] required(String key) throws IOException {
        byte[] value = map.get(key);
        if (value == null) {
            throw new RecordFormatException("it has no " + key.replace(SEPARATOR, " "));
        }
        return value;
    }

    /// The functions of a build with a symbol in the n-th run: several if the symbol is local to files.
    List<FunctionProfile> functions(String build, String symbol, int n) throws IOException {
        List<FunctionProfile> functions = new ArrayList<>();
        byte @Nullable [] value = map.get(key(build, symbol, n, 0));
        while (value != null) {
            functions.add(FunctionCodec.read(value));
            value = map.get(key(build, symbol, n, functions.size()));
        }
        return functions;
    }

    /// All functions, by run.
    Map<Integer, List<FunctionProfile>> functions() throws IOException {
        Map<Integer, List<FunctionProfile>> byRun = new HashMap<>();
        for (Map.Entry<String, byte[]> entry : map.entrySet()) {
            String[] parts = entry.getKey().split(SEPARATOR, -1);
            if (parts.length == 4) {
                byRun.computeIfAbsent(Integer.valueOf(parts[2]), n -> new ArrayList<>())
                        .add(FunctionCodec.read(entry.getValue()));
            }
        }
        return byRun;
    }

    @Override
    public void close() {
        map.close();
    }
}
