package org.mdlagent.runtime.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.codec.RecordFormatException;
import org.mdlagent.profiler.report.format.HistoryReport;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;

/// The profiles of runs, beyond the lives of their sessions and of the programs' builds. Its size is bounded: it keeps
/// the newest runs, and of each the functions that took most time.
public final class ProfileStore {
    /// Runs of one program.
    static final int RUNS_OF_PROGRAM_MAX = 32;

    /// Runs of all programs.
    static final int RUNS_MAX = 128;

    /// Functions of one run.
    static final int FUNCTIONS_MAX = 2_000;

    private static final Comparator<Run> NEWEST_FIRST =
            Comparator.comparing(Run::started).thenComparing(Run::id).reversed();

    private final StoreFile file;

    /// @param directory where the store is, or will be
    public ProfileStore(Path directory) {
        file = new StoreFile(directory);
    }

    /// A run that may be taken in, and how to read what it has measured.
    public record Candidate(Run run, Source source) {
        /// Reads what a run has measured.
        @FunctionalInterface
        public interface Source {
            RunProfile read() throws IOException;
        }
    }

    /// What has become of candidates.
    ///
    /// @param taken         runs that are in the store now and were not before
    /// @param dropped       runs that had to go for them
    /// @param cut           functions of the taken runs that found no room
    /// @param killedWriters ids of processes that were killed while they took runs in, of which nothing was kept
    public record Addition(int taken, int dropped, long cut, List<String> killedWriters) {
        static final Addition NONE = new Addition(0, 0, 0, List.of());

        public Addition {
            killedWriters = List.copyOf(killedWriters);
        }
    }

    /// The runs, the newest first; none when there is no store.
    ///
    /// @throws IOException when the store is damaged; the message says what to do
    public List<Run> runs() throws IOException {
        return read(List.of(), ProfileMap::runs);
    }

    /// What a run has measured.
    ///
    /// @return null when the store does not have it
    public @Nullable RunProfile profile(String id) throws IOException {
        return all().stream()
                .filter(profile -> profile.run().id().equals(id))
                .findFirst()
                .orElse(null);
    }

    /// The functions with a symbol, or, where none has it, those that `wanted` accepts, run by run, the oldest first.
    public List<HistoryReport.Entry> history(Predicate<Run> runs, String symbol, Predicate<FunctionProfile> wanted)
            throws IOException {
        List<HistoryReport.Entry> exactly = read(List.of(), map -> bySymbol(map, runs, symbol));
        return exactly.isEmpty() ? search(runs, wanted) : exactly;
    }

    private static List<HistoryReport.Entry> bySymbol(ProfileMap map, Predicate<Run> wanted, String symbol)
            throws IOException {
        List<HistoryReport.Entry> entries = new ArrayList<>();
        List<Run> runs = map.runs();
        for (int n = runs.size() - 1; n >= 0; n--) {
            Run run = runs.get(n);
            if (wanted.test(run)) {
                Set<String> builds = new HashSet<>(run.builds().values());
                builds.add(Run.NO_BUILD);
                for (String build : builds) {
                    map.functions(build, symbol, n)
                            .forEach(function -> entries.add(new HistoryReport.Entry(run, function)));
                }
            }
        }
        return entries;
    }

    private List<HistoryReport.Entry> search(Predicate<Run> runs, Predicate<FunctionProfile> wanted)
            throws IOException {
        List<HistoryReport.Entry> entries = new ArrayList<>();
        for (RunProfile profile : all().reversed()) {
            if (runs.test(profile.run())) {
                profile.functions().stream()
                        .filter(wanted)
                        .forEach(function -> entries.add(new HistoryReport.Entry(profile.run(), function)));
            }
        }
        return entries;
    }

    /// Takes in those of the candidates that belong to the newest runs and are not there yet.
    ///
    /// @throws IOException when the store is damaged, or a candidate; nothing has changed then
    public Addition add(List<Candidate> candidates) throws IOException {
        if (chosen(runs(), candidates).isEmpty()) {
            return Addition.NONE;
        }
        try (StoreFile.Writing writing = file.write()) {
            List<RunProfile> kept = new ArrayList<>(all());
            List<Run> known = kept.stream().map(RunProfile::run).toList();
            List<Candidate> chosen = chosen(known, candidates);
            if (chosen.isEmpty()) {
                return new Addition(0, 0, 0, writing.killedWriters());
            }
            long cut = 0;
            for (Candidate candidate : chosen) {
                RunProfile profile = candidate.source().read();
                RunProfile bounded = bounded(profile);
                cut += profile.functions().size() - bounded.functions().size();
                kept.add(bounded);
            }
            Set<String> newest = newest(kept.stream().map(RunProfile::run).toList());
            int all = kept.size();
            kept.removeIf(profile -> !newest.contains(profile.run().id()));
            kept.sort(Comparator.comparing(RunProfile::run, NEWEST_FIRST));
            ProfileMap.create(writing.draft(), kept);
            writing.publish();
            return new Addition(chosen.size(), all - kept.size(), cut, writing.killedWriters());
        }
    }

    /// The candidates that are not known and would be kept.
    private static List<Candidate> chosen(List<Run> known, List<Candidate> candidates) {
        Set<String> ids = known.stream().map(Run::id).collect(Collectors.toSet());
        List<Candidate> unknown = candidates.stream()
                .filter(candidate -> ids.add(candidate.run().id()))
                .toList();
        List<Run> all = new ArrayList<>(known);
        unknown.forEach(candidate -> all.add(candidate.run()));
        Set<String> newest = newest(all);
        return unknown.stream()
                .filter(candidate -> newest.contains(candidate.run().id()))
                .toList();
    }

    /// The ids of those runs that there is room for.
    private static Set<String> newest(List<Run> runs) {
        Map<String, Integer> ofProgram = new HashMap<>();
        return runs.stream()
                .sorted(NEWEST_FIRST)
                .filter(run -> ofProgram.merge(run.program(), 1, Integer::sum) <= RUNS_OF_PROGRAM_MAX)
                .limit(RUNS_MAX)
                .map(Run::id)
                .collect(Collectors.toSet());
    }

    private static RunProfile bounded(RunProfile profile) {
        return new RunProfile(
                profile.run(),
                profile.functions().stream()
                        .sorted(Comparator.comparingLong(ProfileStore::weight).reversed())
                        .limit(FUNCTIONS_MAX)
                        .toList());
    }

    private static long weight(FunctionProfile function) {
        OptionalLong total = function.totalNanos();
        return total.isPresent() ? total.getAsLong() : 0;
    }

    private List<RunProfile> all() throws IOException {
        return read(List.of(), map -> {
            Map<Integer, List<FunctionProfile>> functions = map.functions();
            List<RunProfile> all = new ArrayList<>();
            for (Run run : map.runs()) {
                all.add(new RunProfile(run, functions.getOrDefault(all.size(), List.of())));
            }
            return all;
        });
    }

    private interface Reading<T> {
        T from(ProfileMap map) throws IOException;
    }

    private <T> T read(T otherwise, Reading<T> reading) throws IOException {
        try (StoreFile.Copy copy = file.copy()) {
            if (copy == null) {
                return otherwise;
            }
            try (ProfileMap map = ProfileMap.open(copy.path())) {
                copy.remove();
                return reading.from(map);
            }
        } catch (RecordFormatException e) {
            throw file.damaged(String.valueOf(e.getMessage()));
        }
    }
}
