package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The definitions of a file as text: as written, or each on one line without comments, as they are sent one by
/// one to a running agent.
public final class DefinitionLines {
    private static final String COMMENT = "//";

    private DefinitionLines() {}

    /// The lines of one definition, with the comment above it.
    public static List<String> of(SyntaxTree tree, Definition definition) {
        List<String> before =
                tree.file().text().substring(0, definition.at()).lines().toList();
        int comments = before.size();
        while (comments > 0 && before.get(comments - 1).startsWith(COMMENT)) {
            comments--;
        }
        List<String> lines = new ArrayList<>(before.subList(comments, before.size()));
        lines.addAll(text(tree, definition).lines().toList());
        // What follows belongs to the next definition.
        while (lines.getLast().isBlank() || lines.getLast().startsWith(COMMENT)) {
            lines.removeLast();
        }
        return lines;
    }

    private static String text(SyntaxTree tree, Definition definition) {
        String text = tree.file().text();
        int end = tree.definitions().stream()
                .mapToInt(Definition::at)
                .filter(start -> start > definition.at())
                .min()
                .orElse(text.length());
        return text.substring(definition.at(), end);
    }

    /// Lists first, then constraints, then metrics: each may use earlier ones.
    public static List<String> of(SyntaxTree tree) {
        List<Definition> ordered = tree.definitions().stream()
                .sorted(Comparator.comparingInt(DefinitionLines::rank))
                .toList();
        List<String> lines = new ArrayList<>();
        for (Definition definition : ordered) {
            lines.add(line(text(tree, definition)));
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

    /// Replaces comments, indentation and line ends by one blank. Strings do not span lines.
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

    /// Start of a line's comment, or its end.
    private static int comment(String line) {
        boolean inString = false;
        for (int i = 0; i < line.length(); i++) {
            if (line.charAt(i) == '"') {
                inString = !inString;
            } else if (!inString && line.startsWith(COMMENT, i)) {
                return i;
            }
        }
        return line.length();
    }
}
