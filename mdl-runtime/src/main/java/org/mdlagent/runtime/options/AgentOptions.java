package org.mdlagent.runtime.options;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Rule;
import org.mdlagent.profiler.Schedule;
import org.mdlagent.profiler.SlowThreshold;
import org.mdlagent.profiler.figures.Collected;

/// The agent's options, from `MDL_OPTIONS`, properties files, or `mdl run`.
///
/// Uses no regular expressions, streams or lambdas, because the agent runs it at program start.
/// `mdl/options.def` has their keys, defaults and ranges ([AgentOption]).
///
/// @param session          directory of the session, null for the default
/// @param report           format of the final report of `mdl run`, or FORMAT:FILE, null for none
/// @param metrics          to enable from the start
/// @param libraryFunctions room for functions of libraries opened later
/// @param sync             how to wait until every core sees new code
/// @param children         which executed programs get an agent; used by the shim
public record AgentOptions(
        @Nullable String session,
        @Nullable String report,
        Start start,
        Profiling profiling,
        Recording recording,
        Functions functions,
        Metrics metrics,
        int libraryFunctions,
        Sync sync,
        Children children) {

    /// When the agent starts.
    ///
    /// @param await       whether `main` waits until the probes are in place
    /// @param delayMillis from process start to the agent's start
    public record Start(boolean await, int delayMillis) {}

    /// What the agent collects by itself.
    ///
    /// @param on            whether it collects anything
    /// @param collected     what to collect of functions; latency and slow alone use [Recording] and what follows
    ///     `when`
    /// @param event         what to count; of EVENTS alone
    /// @param slow          which calls are slow; NONE unless they are collected
    /// @param schedule      when to collect
    /// @param when          what must have happened before; null for nothing
    /// @param cpuTime       whether durations are CPU time instead of elapsed time
    /// @param sliceMillis   duration of a slice of the session's history, 0: grows with the session's age
    /// @param budgetPercent percentage of CPU time for probes and agent together
    public record Profiling(
            boolean on,
            Collected collected,
            KernelEvent event,
            SlowThreshold slow,
            Schedule schedule,
            @Nullable Rule when,
            boolean cpuTime,
            int sliceMillis,
            double budgetPercent) {}

    /// Which calls are recorded.
    ///
    /// @param exact       whether every call of all functions is, instead of a sample
    /// @param all         functions with every call recorded, while others are sampled
    /// @param counted     functions with every call counted and randomly chosen ones timed
    /// @param sliced      functions whose probes are on in slices of time only
    /// @param countedMean mean number of calls of `counted` per timed call
    public record Recording(
            boolean exact,
            List<FunctionGlob> all,
            List<FunctionGlob> counted,
            List<FunctionGlob> sliced,
            int countedMean) {
        public Recording {
            all = List.copyOf(all);
            counted = List.copyOf(counted);
            sliced = List.copyOf(sliced);
        }
    }

    /// Which functions are probed.
    ///
    /// @param include functions to probe; empty for all
    /// @param exclude functions not to probe; overrides `include`
    public record Functions(List<FunctionGlob> include, List<FunctionGlob> exclude) {
        public Functions {
            include = List.copyOf(include);
            exclude = List.copyOf(exclude);
        }
    }

    /// Metrics to enable from the start.
    ///
    /// @param files    of definitions in MDL
    /// @param requests `METRIC[@FOCUS...]`
    public record Metrics(List<String> files, List<String> requests) {
        public Metrics {
            files = List.copyOf(files);
            requests = List.copyOf(requests);
        }

        public boolean isEmpty() {
            return files.isEmpty() && requests.isEmpty();
        }
    }

    /// How to wait until every core sees new code.
    public enum Sync {
        /// T_max if this machine has been calibrated, else membarrier.
        AUTO,
        /// Only the calibrated wait.
        TMAX,
        /// Only the kernel's barrier.
        MEMBARRIER,
        /// As the manuals require in every case: membarrier, even if one store is enough.
        STRICT
    }

    /// Which executed programs get an agent.
    public enum Children {
        NONE,
        /// Programs that have probe sites at start.
        PROBED,
        ALL
    }

    /// Options, and problems with the given ones: an invalid value is replaced by the default.
    ///
    /// @param asked    as written, from all sources
    /// @param problems one sentence each, with the key and its valid values
    public record Reading(AgentOptions options, AgentOptionsText asked, List<String> problems) {}

    /// The options of this process: the given ones, then those of `$MDL_CONFIG`, `~/.config/mdl/mdl.properties`
    /// and `/etc/mdl/mdl.properties`; for each key the first source wins.
    ///
    /// @param given     as in `MDL_OPTIONS`
    /// @param mdlConfig value of `MDL_CONFIG`, or null
    /// @param home      the user's directory, or null
    public static Reading read(AgentOptionsText given, @Nullable String mdlConfig, @Nullable String home) {
        List<Path> files = new ArrayList<>();
        if (mdlConfig != null && !mdlConfig.isEmpty()) {
            files.add(Path.of(mdlConfig));
        }
        if (home != null && !home.isEmpty()) {
            files.add(Path.of(home, ".config/mdl/mdl.properties"));
        }
        files.add(Path.of("/etc/mdl/mdl.properties"));
        return read(given, files);
    }

    static Reading read(AgentOptionsText given, List<Path> files) {
        List<String> problems = new ArrayList<>();
        AgentOptionsText all = given;
        for (Path file : files) {
            try {
                all = all.over(AgentOptionsText.load(file));
            } catch (IOException e) {
                problems.add(file + " cannot be read: " + e.getMessage());
            }
        }
        return new AgentOptionsReader(all, problems).read();
    }

    /// Whether to probe a function: it is included, or there are no inclusions, and it is not excluded.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled
    public boolean includes(String image, String file, String name) {
        return profiling.collected.hasProbes()
                && (functions.include.isEmpty() || any(functions.include, image, file, name))
                && !excludes(image, file, name);
    }

    /// Whether a function must never be probed.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled
    public boolean excludes(String image, String file, String name) {
        return any(functions.exclude, image, file, name);
    }

    /// Whether all functions are probed.
    public boolean includesAll() {
        return profiling.collected.hasProbes() && functions.include.isEmpty() && functions.exclude.isEmpty();
    }

    /// Which calls of a function are timed, if not all.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled
    public @Nullable Tier tier(String image, String file, String name) {
        if (!profiling.collected.isTimed()) {
            return Tier.SLICED;
        }
        if (isOfRule(image, file, name) || any(recording.all, image, file, name)) {
            return Tier.EXACT;
        }
        if (any(recording.counted, image, file, name)) {
            return new Tier(recording.countedMean);
        }
        return any(recording.sliced, image, file, name) ? Tier.SLICED : null;
    }

    private boolean isOfRule(String image, String file, String name) {
        Rule rule = profiling.when;
        return rule != null && FunctionGlob.of(rule.function()).matches(image, file, name);
    }

    /// Whether [#includes] or [#tier] depends on source files.
    public boolean needsFiles() {
        return anyNeedsFile(functions.include)
                || anyNeedsFile(functions.exclude)
                || anyNeedsFile(recording.all)
                || anyNeedsFile(recording.counted)
                || anyNeedsFile(recording.sliced);
    }

    private static boolean any(List<FunctionGlob> globs, String image, String file, String name) {
        for (int i = 0; i < globs.size(); i++) {
            if (globs.get(i).matches(image, file, name)) {
                return true;
            }
        }
        return false;
    }

    /// Whether an option names an image's functions by the image's name.
    ///
    /// @param image path of the ELF file
    public boolean names(String image) {
        for (FunctionGlob glob : functions.include) {
            if (glob.namesImage(image)) {
                return true;
            }
        }
        return false;
    }

    private static boolean anyNeedsFile(List<FunctionGlob> globs) {
        for (int i = 0; i < globs.size(); i++) {
            if (globs.get(i).needsFile()) {
                return true;
            }
        }
        return false;
    }
}
