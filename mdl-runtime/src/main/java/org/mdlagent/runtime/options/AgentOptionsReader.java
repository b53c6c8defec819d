package org.mdlagent.runtime.options;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.profiler.Rule;
import org.mdlagent.profiler.Schedule;
import org.mdlagent.profiler.SlowThreshold;
import org.mdlagent.profiler.figures.Collected;

/// Parses the values of options by the table ([AgentOption]), and collects problems. A value with a problem is
/// replaced by the default.
final class AgentOptionsReader {
    private static final int DURATION_DIGITS_MAX = 9;

    private final AgentOptionsText text;
    private final List<String> problems;

    AgentOptionsReader(AgentOptionsText text, List<String> problems) {
        this.text = text;
        this.problems = problems;
    }

    AgentOptions.Reading read() {
        for (String key : text.values().keySet()) {
            if (AgentOption.of(key) == null) {
                problems.add("unknown option \"" + key + "\"; there are " + keys());
            }
        }
        boolean await = isOn(value(AgentOption.WAIT));
        List<String> exact = texts(AgentOption.EXACT);
        SlowThreshold slow = slow();
        Collected collected = collected(slow);
        String delay = value(AgentOption.START_DELAY_MILLIS, await ? "0" : AgentOption.START_DELAY_MILLIS.normal());
        AgentOptions options = new AgentOptions(
                path(AgentOption.SESSION),
                report(),
                new AgentOptions.Start(await, Integer.parseInt(delay)),
                new AgentOptions.Profiling(
                        isOn(value(AgentOption.PROFILE)),
                        collected,
                        event(),
                        collected == Collected.SLOW ? slow : SlowThreshold.NONE,
                        schedule(),
                        when(collected),
                        value(AgentOption.TIME).equals("cpu"),
                        number(AgentOption.SLICE_MILLIS),
                        percent(value(AgentOption.BUDGET_PERCENT))),
                new AgentOptions.Recording(
                        isExact(exact),
                        globs(AgentOption.EXACT, functions(exact)),
                        globs(AgentOption.COUNTED, texts(AgentOption.COUNTED)),
                        globs(AgentOption.SLICED, texts(AgentOption.SLICED)),
                        number(AgentOption.COUNTED_MEAN)),
                new AgentOptions.Functions(
                        globs(AgentOption.INCLUDE, texts(AgentOption.INCLUDE)),
                        globs(AgentOption.EXCLUDE, texts(AgentOption.EXCLUDE))),
                new AgentOptions.Metrics(texts(AgentOption.MDL), texts(AgentOption.METRIC)),
                number(AgentOption.LIBRARY_FUNCTIONS),
                AgentOptions.Sync.valueOf(value(AgentOption.SYNC).toUpperCase(Locale.ROOT)),
                AgentOptions.Children.valueOf(value(AgentOption.CHILDREN).toUpperCase(Locale.ROOT)));
        return new AgentOptions.Reading(options, text, List.copyOf(problems));
    }

    private static String keys() {
        StringBuilder keys = new StringBuilder();
        for (AgentOption option : AgentOption.values()) {
            keys.append(keys.isEmpty() ? "" : ", ").append(option.key());
        }
        return keys.toString();
    }

    /// The last value if it is valid, else the default.
    private String value(AgentOption option) {
        return value(option, option.normal());
    }

    private String value(AgentOption option, String otherwise) {
        String value = text.last(option);
        if (value == null) {
            return otherwise;
        }
        if (!isValid(option, value)) {
            problems.add(option.key() + "=" + value + " is not possible; " + option.key() + " is "
                    + OptionType.expected(option));
            return otherwise;
        }
        return value;
    }

    private static boolean isValid(AgentOption option, String value) {
        return switch (option.type()) {
            case SWITCH -> isSwitch(value);
            case CHOICE -> option.choices().contains(value);
            case NUMBER -> isNumber(option, value);
            case PERCENT -> isPercent(option, value);
            case DURATION -> millis(value) >= 0;
            case SLOW_THRESHOLD -> threshold(value) != null;
            case RULE -> isRule(value);
            case EVENT -> isEvent(value);
            case PATH -> !value.isEmpty();
            case REPORT -> isReport(value);
            case TEXTS, FILES, FUNCTIONS, SWITCH_OR_FUNCTIONS -> true;
        };
    }

    private static boolean isSwitch(String value) {
        return isOn(value) || value.equals("off") || value.equals("false") || value.equals("no") || value.equals("0");
    }

    private static boolean isOn(String value) {
        return value.equals("on") || value.equals("true") || value.equals("yes") || value.equals("1");
    }

    private static boolean isNumber(AgentOption option, String value) {
        try {
            int number = Integer.parseInt(value);
            return number >= option.least() && number <= option.most();
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static boolean isPercent(AgentOption option, String value) {
        try {
            double percent = percent(value);
            return percent > option.least() && percent <= option.most();
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /// @param value such as `2.5` or `2.5%`
    private static double percent(String value) {
        return Double.parseDouble(value.endsWith("%") ? value.substring(0, value.length() - 1) : value);
    }

    private static boolean isReport(String value) {
        return value.equals("table")
                || value.equals("json")
                || value.equals("on")
                || value.equals("off")
                || value.indexOf(':') > 0;
    }

    private int number(AgentOption option) {
        return Integer.parseInt(value(option));
    }

    private @Nullable String path(AgentOption option) {
        String value = value(option);
        return value.isEmpty() ? null : value;
    }

    private @Nullable String report() {
        String value = value(AgentOption.REPORT);
        return value.equals("off") ? null : value.equals("on") ? "table" : value;
    }

    private Schedule schedule() {
        try {
            return new Schedule(
                    millis(value(AgentOption.AFTER)), millis(value(AgentOption.FOR)), millis(value(AgentOption.EVERY)));
        } catch (IllegalArgumentException e) {
            problems.add(AgentOption.EVERY.key() + " is not possible: " + e.getMessage());
            return Schedule.ALWAYS;
        }
    }

    /// Which calls are slow, whatever is collected.
    private SlowThreshold slow() {
        SlowThreshold given = Objects.requireNonNull(threshold(value(AgentOption.SLOW)));
        boolean wanted = given.isWanted() || value(AgentOption.COLLECT).equals(Collected.SLOW.key());
        if (wanted && value(AgentOption.TIME).equals("cpu")) {
            problems.add(AgentOption.SLOW.key() + " is not possible with time=cpu: slow calls are of elapsed time");
            return SlowThreshold.NONE;
        }
        return wanted && !given.isWanted() ? SlowThreshold.OWN : given;
    }

    private Collected collected(SlowThreshold slow) {
        Collected collected = Objects.requireNonNull(Collected.named(value(AgentOption.COLLECT)));
        if (collected.isTimed()) {
            return slow.isWanted() ? Collected.SLOW : Collected.LATENCY;
        }
        if (slow.isWanted()) {
            problems.add(AgentOption.SLOW.key() + " is not possible with " + AgentOption.COLLECT.key() + "="
                    + collected.key() + ": calls are not timed");
        }
        return collected;
    }

    /// Null if it is none.
    private static @Nullable SlowThreshold threshold(String value) {
        if (value.equals("off")) {
            return SlowThreshold.NONE;
        }
        if (value.equals("p99.9")) {
            return SlowThreshold.OWN;
        }
        boolean isMicros = value.endsWith("us");
        long nanos =
                isMicros ? 1_000 * millis(value.substring(0, value.length() - 2) + "ms") : 1_000_000 * millis(value);
        return nanos < SlowThreshold.NANOS_MIN ? null : new SlowThreshold(nanos);
    }

    private static boolean isEvent(String value) {
        try {
            return !KernelEvent.of(value).word().isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private KernelEvent event() {
        KernelEvent event = KernelEvent.of(value(AgentOption.EVENT));
        if (event.isHardware()) {
            problems.add(AgentOption.EVENT.key() + "=" + event.word()
                    + " is not possible; processors' counters are for metrics alone (hwCounter), and by function there are "
                    + KernelEvent.software());
            return KernelEvent.PAGE_FAULTS;
        }
        return event;
    }

    private static boolean isRule(String value) {
        try {
            return !Rule.parse(value).text().isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private @Nullable Rule when(Collected collected) {
        String value = value(AgentOption.WHEN);
        if (value.isEmpty()) {
            return null;
        }
        Rule rule = Rule.parse(value);
        String problem = "";
        try {
            if (!collected.hasProbes()) {
                problem = "functions have no probes in this session";
            } else if (FunctionGlob.of(rule.function()).needsFile()) {
                problem = "give the function without its file";
            } else if (rule.measure().isTimed() && !collected.isTimed()) {
                problem = "calls are not timed in this session: use calls or rate";
            } else if (collected == Collected.COVERAGE && rule.measure() == Rule.Measure.RATE) {
                problem = "coverage knows first calls only: use calls";
            } else if (text.last(AgentOption.EVERY) != null) {
                problem = "it excludes " + AgentOption.EVERY.key();
            }
        } catch (IllegalArgumentException e) {
            problem = String.valueOf(e.getMessage());
        }
        if (problem.isEmpty()) {
            return rule;
        }
        problems.add(AgentOption.WHEN.key() + "=" + value + " is not possible; " + problem);
        return null;
    }

    /// The milliseconds of a duration, -1 if it is none.
    private static long millis(String value) {
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
        boolean isDuration = digits > 0 && digits <= DURATION_DIGITS_MAX && unit > 0;
        return isDuration ? unit * Integer.parseInt(value.substring(0, digits)) : -1;
    }

    private List<String> texts(AgentOption option) {
        List<String> values = text.values().get(option.key());
        if (values == null) {
            return List.of();
        }
        if (values.contains("")) {
            problems.add(option.key() + " needs a value");
            return List.of();
        }
        return values;
    }

    private List<FunctionGlob> globs(AgentOption option, List<String> values) {
        List<FunctionGlob> globs = new ArrayList<>();
        for (String value : values) {
            try {
                globs.add(FunctionGlob.of(value));
            } catch (IllegalArgumentException e) {
                problems.add(option.key() + "=" + value + " is not possible; " + e.getMessage());
            }
        }
        return globs;
    }

    /// The last of these values that is not a function.
    private static boolean isExact(List<String> values) {
        boolean exact = isOn(AgentOption.EXACT.normal());
        for (String value : values) {
            exact = isSwitch(value) ? isOn(value) : exact;
        }
        return exact;
    }

    private static List<String> functions(List<String> values) {
        List<String> functions = new ArrayList<>();
        for (String value : values) {
            if (!isSwitch(value)) {
                functions.add(value);
            }
        }
        return functions;
    }
}
