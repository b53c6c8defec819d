package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.profiler.report.file.FunctionNames;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.FunctionSource;
import org.mdlagent.profiler.report.profile.Profile;

/// Finds the source lines that samples of CPU time have met.
final class SourceReader {
    private static final int FUNCTIONS_MAX = 200;
    private static final int FILE_BYTES_MAX = 8 << 20;
    private static final int TEXT_LINES_MAX = 500;

    /// Context lines shown around sampled lines.
    private static final int AROUND = 3;

    /// Maximum distance at which a function's first line is shown.
    private static final int HEAD_MAX = 100;

    /// A line table may name any file; only program text may get into a page that people share.
    private static final Pattern PROGRAM_TEXT = Pattern.compile(
            ".*\\.(?i:c|cc|cpp|cxx|c\\+\\+|h|hh|hpp|hxx|inc|inl|ipp|tcc|m|mm|s|asm|rs|go|ml|d|f|f90|f95|swift|zig|nim|pas|adb|y|l)");

    private final FunctionNames names;
    private final Instant started;

    /// By path; empty for files that are not shown.
    private final Map<String, List<String>> files = new HashMap<>();

    /// @param started files changed later than this are not the program's source
    SourceReader(FunctionNames names, Instant started) {
        this.names = names;
        this.started = started;
    }

    /// The sources of probed functions, those with the most samples first.
    ///
    /// @param builds build ids by image; other images have no line tables that are known to match
    List<FunctionSource> read(Profile profile, Map<String, String> builds) {
        Map<String, TreeMap<Long, IdentityHashMap<FunctionProfile, Long>>> byImage = new TreeMap<>();
        CallTree tree = profile.paths();
        for (CallTree.Sample sample : tree.samples()) {
            FunctionProfile function =
                    tree.isRoot(sample.path()) ? null : sample.path().frame().function();
            if (function != null && builds.containsKey(function.image())) {
                byImage.computeIfAbsent(function.image(), image -> new TreeMap<>())
                        .computeIfAbsent(sample.address(), address -> new IdentityHashMap<>())
                        .merge(function, sample.weight() * tree.samplesPerLogged(), Long::sum);
            }
        }
        IdentityHashMap<FunctionProfile, Map<String, SortedMap<Integer, Long>>> lines = new IdentityHashMap<>();
        byImage.forEach((image, addresses) -> addLines(image, builds.getOrDefault(image, ""), addresses, lines));
        List<FunctionSource> sources = new ArrayList<>();
        lines.forEach((function, byFile) -> byFile.forEach(
                (file, samples) -> sources.add(new FunctionSource(function, file, samples, 0, List.of()))));
        return sources.stream()
                .sorted(Comparator.comparingLong(FunctionSource::sum).reversed())
                .limit(FUNCTIONS_MAX)
                .map(this::withText)
                .toList();
    }

    private void addLines(
            String image,
            String build,
            SortedMap<Long, IdentityHashMap<FunctionProfile, Long>> addresses,
            IdentityHashMap<FunctionProfile, Map<String, SortedMap<Integer, Long>>> lines) {
        @Nullable
        SourceLine[] found = names.lines(
                image,
                build,
                addresses.keySet().stream().mapToLong(Long::longValue).toArray());
        int i = 0;
        for (IdentityHashMap<FunctionProfile, Long> functions : addresses.values()) {
            SourceLine line = found[i++];
            if (line != null) {
                functions.forEach((function, count) -> lines.computeIfAbsent(function, f -> new TreeMap<>())
                        .computeIfAbsent(line.file(), file -> new TreeMap<>())
                        .merge(line.line(), count, Long::sum));
            }
        }
    }

    private FunctionSource withText(FunctionSource source) {
        List<String> file = files.computeIfAbsent(source.file(), this::text);
        if (file.isEmpty()) {
            return source;
        }
        FunctionProfile function = source.function();
        int met = source.samples().firstKey();
        int head = source.file().equals(function.file()) && function.line() > 0 && met - function.line() <= HEAD_MAX
                ? Math.min(met, function.line())
                : met;
        int first = Math.clamp(head - AROUND, 1, file.size());
        int last = Math.min(Math.min(file.size(), source.samples().lastKey() + AROUND), first + TEXT_LINES_MAX - 1);
        return new FunctionSource(
                function, source.file(), source.samples(), first, file.subList(first - 1, Math.max(first - 1, last)));
    }

    private List<String> text(String file) {
        try {
            Path path = Path.of(file);
            boolean shown = path.isAbsolute()
                    && PROGRAM_TEXT.matcher(file).matches()
                    && Files.isRegularFile(path)
                    && Files.size(path) <= FILE_BYTES_MAX
                    && !Files.getLastModifiedTime(path).toInstant().isAfter(started);
            return shown
                    ? new String(Files.readAllBytes(path), StandardCharsets.UTF_8)
                            .lines()
                            .toList()
                    : List.of();
        } catch (IOException | InvalidPathException e) {
            return List.of();
        }
    }
}
