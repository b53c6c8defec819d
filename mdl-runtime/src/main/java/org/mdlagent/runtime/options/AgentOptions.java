package org.mdlagent.runtime.options;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Collected;
import org.mdlagent.profiler.Schedule;

/// The agent's options, from `MDL_OPTIONS`, properties files, or `mdl run`.
///
/// Uses no regular expressions, streams or lambdas, because the agent runs it at program start.
///
/// Long because each option is a component, a key, its reading and what may be wrong with it.
///
/// @param session          directory of the session, null for the default
/// @param await            whether `main` waits until the probes are in place
/// @param profile          whether the agent collects anything by itself
/// @param collected        what to collect of functions; only latency uses `profile` and the seven options after
///     `schedule`
/// @param schedule         when to collect
/// @param exact            whether every call is recorded instead of a sample
/// @param exactFunctions   functions with every call recorded, while others are sampled
/// @param countedFunctions functions with every call counted and randomly chosen ones timed
/// @param slicedFunctions  functions whose probes are on in slices of time only
/// @param countedMean      mean number of their calls per timed call
/// @param cpuTime          whether durations are CPU time instead of elapsed time
/// @param sliceMillis      duration of a slice of the session's history, 0: grows with the session's age
/// @param budgetPercent    percentage of CPU time for probes and agent together
/// @param include          functions to probe; empty for all
/// @param exclude          functions not to probe; overrides `include`
/// @param mdl              files of metric definitions
/// @param metrics          `METRIC[@FOCUS...]` to enable from the start
/// @param libraryFunctions room for functions of libraries opened later
/// @param sync             how to wait until every core sees new code
/// @param startDelayMillis delay from process start to the agent's start
/// @param children         which executed programs get an agent; used by the shim
/// @param report           format of the final report of `mdl run`, or FORMAT:FILE, null for none
public record AgentOptions(
        @Nullable String session,
        boolean await,
        boolean profile,
        Collected collected,
        Schedule schedule,
        boolean exact,
        List<FunctionGlob> exactFunctions,
        List<FunctionGlob> countedFunctions,
        List<FunctionGlob> slicedFunctions,
        int countedMean,
        boolean cpuTime,
        int sliceMillis,
        double budgetPercent,
        List<FunctionGlob> include,
        List<FunctionGlob> exclude,
        List<String> mdl,
        List<String> metrics,
        int libraryFunctions,
        Sync sync,
        int startDelayMillis,
        Children children,
        @Nullable String report) {

    public static final String SESSION = "session";
    public static final String WAIT = "wait";
    public static final String PROFILE = "profile";
    public static final String COLLECT = "collect";
    public static final String AFTER = "after";
    public static final String FOR = "for";
    public static final String EVERY = "every";
    public static final String EXACT = "exact";
    public static final String COUNTED = "counted";
    public static final String SLICED = "sliced";
    public static final String COUNTED_MEAN = "countedMean";
    public static final String TIME = "time";
    public static final String SLICE_MILLIS = "sliceMillis";
    public static final String BUDGET_PERCENT = "budgetPercent";
    public static final String INCLUDE = "include";
    public static final String EXCLUDE = "exclude";
    public static final String MDL = "mdl";
    public static final String METRIC = "metric";
    public static final String LIBRARY_FUNCTIONS = "libraryFunctions";
    public static final String SYNC = "sync";
    public static final String START_DELAY_MILLIS = "startDelayMillis";
    public static final String CHILDREN = "children";
    public static final String REPORT = "report";

    private static final String KEYS =
            "session, wait, profile, collect, after, for, every, exact, counted, sliced, countedMean, time, sliceMillis, "
                    + "budgetPercent, include, exclude, mdl, metric, libraryFunctions, sync, startDelayMillis, "
                    + "children, report";
    private static final int LIBRARY_FUNCTIONS_DEFAULT = 4096;
    private static final int START_DELAY_DEFAULT = 50;
    private static final int COUNTED_MEAN_DEFAULT = 100;
    private static final int DURATION_DIGITS_MAX = 9;

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

    public AgentOptions {
        exactFunctions = List.copyOf(exactFunctions);
        countedFunctions = List.copyOf(countedFunctions);
        slicedFunctions = List.copyOf(slicedFunctions);
        include = List.copyOf(include);
        exclude = List.copyOf(exclude);
        mdl = List.copyOf(mdl);
        metrics = List.copyOf(metrics);
    }

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
        return new Reader(all, problems).read();
    }

    /// Whether to probe a function: it is included, or there are no inclusions, and it is not excluded.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled
    public boolean includes(String image, String file, String name) {
        return (include.isEmpty() || any(include, image, file, name)) && !excludes(image, file, name);
    }

    /// Whether a function must never be probed.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled
    public boolean excludes(String image, String file, String name) {
        return any(exclude, image, file, name);
    }

    /// Whether all functions are probed.
    public boolean includesAll() {
        return include.isEmpty() && exclude.isEmpty();
    }

    /// Which calls of a function are timed, if not all.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled
    public @Nullable Tier tier(String image, String file, String name) {
        if (collected != Collected.LATENCY) {
            return Tier.SLICED;
        }
        if (any(exactFunctions, image, file, name)) {
            return Tier.EXACT;
        }
        if (any(countedFunctions, image, file, name)) {
            return new Tier(countedMean);
        }
        return any(slicedFunctions, image, file, name) ? Tier.SLICED : null;
    }

    /// Whether [#includes] or [#tier] depends on source files.
    public boolean needsFiles() {
        return anyNeedsFile(include)
                || anyNeedsFile(exclude)
                || anyNeedsFile(exactFunctions)
                || anyNeedsFile(countedFunctions)
                || anyNeedsFile(slicedFunctions);
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
        for (FunctionGlob glob : include) {
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

    /// Parses values and collects problems.
    private static final class Reader {
        private final AgentOptionsText text;
        private final List<String> problems;

        Reader(AgentOptionsText text, List<String> problems) {
            this.text = text;
            this.problems = problems;
        }

        Reading read() {
            for (Map.Entry<String, List<String>> entry : text.values().entrySet()) {
                if (!isKey(entry.getKey())) {
                    problems.add("unknown option \"" + entry.getKey() + "\"; there are " + KEYS);
                }
            }
            boolean await = flag(WAIT, false);
            List<String> exact = texts(EXACT);
            AgentOptions options = new AgentOptions(
                    path(SESSION),
                    await,
                    flag(PROFILE, true),
                    collected(),
                    schedule(),
                    isExact(exact),
                    globs(EXACT, functions(exact)),
                    globs(COUNTED, texts(COUNTED)),
                    globs(SLICED, texts(SLICED)),
                    number(COUNTED_MEAN, COUNTED_MEAN_DEFAULT, 2, Tier.MEAN_MAX),
                    isCpuTime(),
                    number(SLICE_MILLIS, 0, 0, 600_000),
                    percent(BUDGET_PERCENT, 1),
                    globs(INCLUDE, texts(INCLUDE)),
                    globs(EXCLUDE, texts(EXCLUDE)),
                    texts(MDL),
                    texts(METRIC),
                    number(LIBRARY_FUNCTIONS, LIBRARY_FUNCTIONS_DEFAULT, 0, 1_000_000),
                    sync(),
                    number(START_DELAY_MILLIS, await ? 0 : START_DELAY_DEFAULT, 0, 3_600_000),
                    children(),
                    report());
            return new Reading(options, text, List.copyOf(problems));
        }

        private static boolean isKey(String key) {
            return switch (key) {
                case SESSION,
                        WAIT,
                        PROFILE,
                        COLLECT,
                        AFTER,
                        FOR,
                        EVERY,
                        EXACT,
                        COUNTED,
                        SLICED,
                        COUNTED_MEAN,
                        TIME,
                        SLICE_MILLIS,
                        BUDGET_PERCENT,
                        INCLUDE,
                        EXCLUDE,
                        MDL,
                        METRIC,
                        LIBRARY_FUNCTIONS,
                        SYNC,
                        START_DELAY_MILLIS,
                        CHILDREN,
                        REPORT -> true;
                default -> false;
            };
        }

        private void refuse(String key, String value, String allowed) {
            problems.add(key + "=" + value + " is not possible; " + key + " is " + allowed);
        }

        private boolean flag(String key, boolean otherwise) {
            String value = text.last(key);
            if (value == null) {
                return otherwise;
            }
            if (!isFlag(value)) {
                refuse(key, value, "on or off");
                return otherwise;
            }
            return isOn(value);
        }

        private static boolean isFlag(String value) {
            return isOn(value)
                    || value.equals("off")
                    || value.equals("false")
                    || value.equals("no")
                    || value.equals("0");
        }

        private static boolean isOn(String value) {
            return value.equals("on") || value.equals("true") || value.equals("yes") || value.equals("1");
        }

        /// The last of these values that is not a function.
        private static boolean isExact(List<String> values) {
            boolean exact = false;
            for (String value : values) {
                exact = isFlag(value) ? isOn(value) : exact;
            }
            return exact;
        }

        private static List<String> functions(List<String> values) {
            List<String> functions = new ArrayList<>();
            for (String value : values) {
                if (!isFlag(value)) {
                    functions.add(value);
                }
            }
            return functions;
        }

        private int number(String key, int otherwise, int least, int most) {
            String value = text.last(key);
            if (value == null) {
                return otherwise;
            }
            try {
                int number = Integer.parseInt(value);
                if (number >= least && number <= most) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // rejected below, like a number out of range
            }
            refuse(key, value, "a whole number from " + least + " to " + most);
            return otherwise;
        }

        private double percent(String key, double otherwise) {
            String value = text.last(key);
            if (value == null) {
                return otherwise;
            }
            try {
                double percent = Double.parseDouble(value);
                if (percent > 0 && percent <= 100) {
                    return percent;
                }
            } catch (NumberFormatException e) {
                // rejected below, like a number out of range
            }
            refuse(key, value, "a number of percent above 0 and up to 100");
            return otherwise;
        }

        private @Nullable String path(String key) {
            String value = text.last(key);
            if (value != null && value.isEmpty()) {
                refuse(key, value, "a directory");
                return null;
            }
            return value;
        }

        private List<FunctionGlob> globs(String key, List<String> values) {
            List<FunctionGlob> globs = new ArrayList<>();
            for (String value : values) {
                try {
                    globs.add(FunctionGlob.of(value));
                } catch (IllegalArgumentException e) {
                    problems.add(key + "=" + value + " is not possible; " + e.getMessage());
                }
            }
            return globs;
        }

        private List<String> texts(String key) {
            List<String> values = text.values().get(key);
            if (values == null) {
                return List.of();
            }
            if (values.contains("")) {
                problems.add(key + " needs a value");
                return List.of();
            }
            return values;
        }

        private boolean isCpuTime() {
            String value = text.last(TIME);
            if (value == null) {
                return false;
            }
            return switch (value) {
                case "cpu" -> true;
                case "wall" -> false;
                default -> {
                    refuse(TIME, value, "wall or cpu");
                    yield false;
                }
            };
        }

        private Collected collected() {
            String value = text.last(COLLECT);
            if (value == null) {
                return Collected.LATENCY;
            }
            Collected named = Collected.named(value);
            if (named == null) {
                refuse(COLLECT, value, "latency, counts, coverage, blocks or arcs");
                return Collected.LATENCY;
            }
            return named;
        }

        private Schedule schedule() {
            try {
                return new Schedule(millis(AFTER), millis(FOR), millis(EVERY));
            } catch (IllegalArgumentException e) {
                problems.add(EVERY + " is not possible: " + e.getMessage());
                return Schedule.ALWAYS;
            }
        }

        /// A whole number with its unit: `500ms`, `30s`, `5m`, `1h`. 0 if it is not given.
        private long millis(String key) {
            String value = text.last(key);
            if (value == null) {
                return 0;
            }
            int digits = 0;
            while (digits < value.length() && value.charAt(digits) >= '0' && value.charAt(digits) <= '9') {
                digits++;
            }
            long unit = switch (value.substring(digits)) {
                case "ms" -> 1;
                case "s" -> 1000;
                case "m" -> 60_000;
                case "h" -> 3_600_000;
                default -> 0;
            };
            if (digits == 0 || digits > DURATION_DIGITS_MAX || unit == 0) {
                refuse(key, value, "a duration such as 500ms, 30s, 5m or 1h");
                return 0;
            }
            return unit * Integer.parseInt(value.substring(0, digits));
        }

        private Sync sync() {
            String value = text.last(SYNC);
            if (value == null) {
                return Sync.AUTO;
            }
            return switch (value) {
                case "auto" -> Sync.AUTO;
                case "tmax" -> Sync.TMAX;
                case "membarrier" -> Sync.MEMBARRIER;
                case "strict" -> Sync.STRICT;
                default -> {
                    refuse(SYNC, value, "auto, tmax, membarrier or strict");
                    yield Sync.AUTO;
                }
            };
        }

        private Children children() {
            String value = text.last(CHILDREN);
            if (value == null) {
                return Children.PROBED;
            }
            return switch (value) {
                case "none" -> Children.NONE;
                case "probed" -> Children.PROBED;
                case "all" -> Children.ALL;
                default -> {
                    refuse(CHILDREN, value, "none, probed or all");
                    yield Children.PROBED;
                }
            };
        }

        private @Nullable String report() {
            String value = text.last(REPORT);
            if (value == null) {
                return null;
            }
            return switch (value) {
                case "table", "json" -> value;
                case "on" -> "table";
                case "off" -> null;
                default -> {
                    if (value.indexOf(':') > 0) {
                        yield value;
                    }
                    refuse(REPORT, value, "table, json, FORMAT:FILE or off");
                    yield null;
                }
            };
        }
    }
}
