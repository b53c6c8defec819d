package org.mdlagent.runtime.options;

import java.util.List;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.profiler.Rule;

/// What the value of an option is.
public enum OptionType {
    /// `on` or `off`.
    SWITCH,
    /// One of the option's values.
    CHOICE,
    /// A whole number in the option's range.
    NUMBER,
    /// A percentage above the least number of the option's range.
    PERCENT,
    /// A whole number with its unit: `500ms`, `30s`, `5m`, `1h`.
    DURATION,
    /// `off`, `p99.9`, or a duration from 100 µs on: `500us`, `10ms`, `1s`.
    SLOW_THRESHOLD,
    /// A rule on a function: `p99(handle) > 5ms`.
    RULE,
    /// An event of the kernel: `page-faults`.
    EVENT,
    /// A directory.
    PATH,
    /// Anything, several times.
    TEXTS,
    /// Paths of files, several times.
    FILES,
    /// Patterns of functions, several times.
    FUNCTIONS,
    /// `on` or `off`, or patterns of functions.
    SWITCH_OR_FUNCTIONS,
    /// `table`, `json`, `FORMAT:FILE` or `off`.
    REPORT;

    /// Whether an option can have several values.
    public boolean isList() {
        return this == TEXTS || this == FILES || this == FUNCTIONS || this == SWITCH_OR_FUNCTIONS;
    }

    /// What values of an option are, for users. Lists have no such text.
    static String expected(AgentOption option) {
        return switch (option.type()) {
            case SWITCH -> "on or off";
            case CHOICE -> choices(option.choices());
            case NUMBER -> "a whole number from " + option.least() + " to " + option.most();
            case PERCENT -> "a number of percent above " + option.least() + " and up to " + option.most();
            case DURATION -> "a duration such as 500ms, 30s, 5m or 1h";
            case SLOW_THRESHOLD -> "off, p99.9, or a duration from 100us on such as 500us, 10ms or 1s";
            case RULE -> Rule.FORM;
            case EVENT -> KernelEvent.software();
            case PATH -> "a directory";
            case REPORT -> "table, json, FORMAT:FILE or off";
            case TEXTS, FILES, FUNCTIONS, SWITCH_OR_FUNCTIONS -> "a value";
        };
    }

    private static String choices(List<String> values) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            text.append(i == 0 ? "" : i + 1 < values.size() ? ", " : " or ").append(values.get(i));
        }
        return text.toString();
    }
}
