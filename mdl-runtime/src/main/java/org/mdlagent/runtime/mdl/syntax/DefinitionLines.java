package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The definitions of a file, each in one line without comments: as a running agent is given them, one by one.
public final class DefinitionLines {
    private DefinitionLines() {}

    /// Lists first, then constraints, then metrics: each may use what stands before it.
    public static List<String> of(SyntaxTree tree) {
        String text = tree.file().text();
        List<Integer> starts =
                tree.definitions().stream().map(Definition::at).sorted().toList();
        List<Definition> ordered = tree.definitions().stream()
                .sorted(Comparator.comparingInt(DefinitionLines::rank))
                .toList();
        List<String> lines = new ArrayList<>();
        for (Definition definition : ordered) {
            int end = starts.stream()
                    .filter(start -> start > definition.at())
                    .findFirst()
                    .orElse(text.length());
            lines.add(line(text.substring(definition.at(), end)));
        }
        return lines;
    }

    private static int rank(Definition definition) {
        return switch (definition) {
            case Definition.Items list -> 0;
            case Definition.Constraint constraint -> 1;
            default -> 2;
        };
    }

    /// Comments, indentation and ends of lines become one blank. A string ends in its line.
    private static String line(String text) {
        StringBuilder line = new StringBuilder();
        for (String each : text.split("\n")) {
            String code = each.substring(0, comment(each)).strip();
            if (!code.isEmpty()) {
                line.append(line.isEmpty() ? "" : " ").append(code);
            }
        }
        return line.toString();
    }

    /// Where the comment of a line begins, or its end.
    private static int comment(String line) {
        boolean inString = false;
        for (int i = 0; i < line.length(); i++) {
            if (line.charAt(i) == '"') {
                inString = !inString;
            } else if (!inString && line.startsWith("//", i)) {
                return i;
            }
        }
        return line.length();
    }
}
