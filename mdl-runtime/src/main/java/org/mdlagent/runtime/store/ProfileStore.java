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

/// Profiles of runs that outlive their sessions and the programs' builds. Bounded: it keeps the newest runs, and
/// for each the functions with the most time.
public final class ProfileStore {
    /// Maximum runs of one program.
    static final int RUNS_OF_PROGRAM_MAX = 32;

    /// Maximum runs of all programs.
    static final int RUNS_MAX = 128;

    /// Maximum functions of one run.
    static final int FUNCTIONS_MAX = 2_000;

    private static final Comparator<Run> NEWEST_FIRST =
            Comparator.comparing(Run::started).thenComparing(Run::id).reversed();

    private final StoreFile file;

    /// @param directory of the store; it need not exist
    public ProfileStore(Path directory) {
        file = new StoreFile(directory);
    }

    /// A candidate run, and how to read its measurements.
    public record Candidate(Run run, Source source) {
        /// Reads a run's measurements.
        @FunctionalInterface
        public interface Source {
            RunProfile read() throws IOException;
        }
    }

    /// The result of adding candidates.
    ///
    /// @param taken         runs that were added
    /// @param dropped       runs that were removed for them
    /// @param cut           functions of the added runs that did not fit
    /// @param killedWriters ids of processes that were killed while adding runs, which were lost
    public record Addition(int taken, int dropped, long cut, List<String> killedWriters) {
        static final Addition NONE = new Addition(0, 0, 0, List.of());

        public Addition {
            killedWriters = List.copyOf(killedWriters);
        }
    }

    /// The runs, newest first; empty without a store.
    ///
    /// @throws IOException if the store is damaged; the message says what to do
    public List<Run> runs() throws IOException {
        return read(List.of(), ProfileMap::runs);
    }

    /// A run's measurements.
    ///
    /// @return null if the store does not have it
    public @Nullable RunProfile profile(String id) throws IOException {
        return all().stream()
                .filter(profile -> profile.run().id().equals(id))
                .findFirst()
                .orElse(null);
    }

    /// The functions with a symbol, or, if there are none, those that `wanted` accepts, by run, oldest first.
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

    /// Adds the candidates that belong to the newest runs and are not stored yet.
    ///
    /// @throws IOException if the store or a candidate is damaged; then nothing has changed
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

    /// The new candidates that would be kept.
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

    /// The ids of the runs that fit.
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
