package org.mdlagent.runtime.mdl;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A metric in one line, short for its definition in MDL:
///
/// ```
/// [NAME =] counter [of EXPRESSION] at entry|return of FUNCTION, ... [when CONDITION]
/// [NAME =] wallTimer|processTimer of FUNCTION, ... [when CONDITION]
/// ```
///
/// A counter counts, or sums an expression. Expressions and conditions are MDL's; a function may be a pattern, and
/// may be one that the program calls in a library. Only calls that satisfy a timer's condition start it.
///
/// @param name of the metric: given, or derived from its kind and first function
/// @param mdl  its definition
public record OneLiner(String name, String mdl) {
    private static final Pattern COUNTER = Pattern.compile(
            "counter\\s+(?:of\\s+(?<amount>.+?)\\s+)?at\\s+(?<place>entry|return)\\s+of\\s+(?<functions>.+)");
    private static final Pattern TIMER = Pattern.compile("(?<kind>wallTimer|processTimer)\\s+of\\s+(?<functions>.+)");
    private static final Pattern NAME = Pattern.compile("\\s*([A-Za-z_]\\w*)\\s*=(?!=)\\s*(.*)");
    private static final Pattern WHEN = Pattern.compile("(.*?)\\s+when\\s+(.+)");

    /// Commas between functions, not between C++ parameters.
    private static final Pattern SEPARATOR = Pattern.compile("\\s*,\\s*(?![^(<]*[)>])");

    /// Reads a line.
    ///
    /// @throws IllegalArgumentException with a message for the user
    public static OneLiner of(String line) {
        String text = line.strip();
        Matcher named = NAME.matcher(text);
        String given = named.matches() ? named.group(1) : "";
        String question = named.matches() ? named.group(2).strip() : text;
        Matcher when = WHEN.matcher(question);
        String condition = when.matches() ? when.group(2).strip() : "";
        String what = when.matches() ? when.group(1) : question;
        Matcher counter = COUNTER.matcher(what);
        Matcher timer = TIMER.matcher(what);
        if (text.indexOf('"') >= 0 || text.indexOf('\n') >= 0 || !counter.matches() && !timer.matches()) {
            throw new IllegalArgumentException("a question is: counter [of EXPRESSION] at entry|return of FUNCTION"
                    + " [when CONDITION], or wallTimer|processTimer of FUNCTION [when CONDITION]; not: " + text);
        }
        boolean counts = counter.matches();
        List<String> functions = List.of(
                SEPARATOR.split((counts ? counter : timer).group("functions").strip()));
        String kind = counts ? "counter" : timer.group("kind");
        String name = given.isEmpty()
                ? (counts ? counter.group("place") : kind) + "_"
                        + functions.getFirst().replaceAll("\\W+", "_").replaceFirst("_+$", "")
                : given;
        List<String> code = counts ? counting(name, counter, condition) : timing(name, kind, condition);
        return new OneLiner(
                name, mdl(name, question, kind, counts && counter.group("amount") != null, functions, code));
    }

    private static List<String> counting(String name, Matcher counter, String condition) {
        String amount = counter.group("amount");
        String step = amount == null ? name + "++;" : name + " += " + amount + ";";
        return List.of(
                "append preInsn func." + counter.group("place") + " constrained (* " + only(condition, step) + " *)");
    }

    private static List<String> timing(String name, String kind, String condition) {
        String timer = Character.toUpperCase(kind.charAt(0)) + kind.substring(1) + "(" + name + ");";
        return List.of(
                "prepend preInsn func.entry constrained (* " + only(condition, "start" + timer) + " *)",
                "append preInsn func.return (* stop" + timer + " *)");
    }

    private static String only(String condition, String step) {
        return condition.isEmpty() ? step : "if (" + condition + ") " + step;
    }

    private static String mdl(
            String name, String question, String kind, boolean adds, List<String> functions, List<String> code) {
        List<String> lines = new ArrayList<>();
        lines.add("list " + name + "_functions is procedure {");
        lines.add("    items { "
                + String.join(", ", functions.stream().map(f -> '"' + f + '"').toList()) + " };");
        lines.add("    library true;");
        lines.add("}");
        lines.add("metric " + name + " {");
        lines.add("    name \"" + question + "\";");
        lines.add("    units " + units(kind, adds) + ";");
        lines.add("    unitsType " + (kind.equals("processTimer") ? "normalized" : "unnormalized") + ";");
        lines.add("    aggregateOperator sum;");
        for (String constraint : List.of("procedure", "module", "thread", "process", "machine")) {
            lines.add("    constraint " + constraint + "Constraint;");
        }
        lines.add("    base is " + kind + " {");
        lines.add("        foreach func in " + name + "_functions {");
        code.forEach(line -> lines.add("            " + line));
        lines.add("        }");
        lines.add("    }");
        lines.add("}");
        return String.join("\n", lines) + "\n";
    }

    private static String units(String kind, boolean adds) {
        return switch (kind) {
            case "wallTimer" -> "seconds";
            case "processTimer" -> "CPUs";
            default -> adds ? "units" : "calls";
        };
    }
}
