package org.mdlagent.runtime.mdl;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.DefinitionLines;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.SyntaxTree;

/// The built-in metrics.
public final class MetricLibrary {
    /// Each file may use the definitions of earlier ones.
    private static final List<String> FILES =
            List.of("code.mdl", "io.mdl", "sync.mdl", "memory.mdl", "messages.mdl", "system.mdl");

    private MetricLibrary() {}

    /// Reads the library.
    public static Definitions load() {
        Definitions definitions = Definitions.NONE;
        for (SourceFile file : files()) {
            definitions = definitions.with(Compilation.of(file, definitions).definitions());
        }
        return definitions;
    }

    /// The MDL source of a list, constraint or metric of the library, with the comment above it; empty if the name
    /// is unknown.
    public static List<String> source(String name) {
        for (SourceFile file : files()) {
            SyntaxTree tree = SyntaxTree.parse(file, new Diagnostics(file));
            for (Definition definition : tree.definitions()) {
                if (nameOf(definition).equals(name)) {
                    return DefinitionLines.of(tree, definition);
                }
            }
        }
        return List.of();
    }

    private static String nameOf(Definition definition) {
        return switch (definition) {
            case Definition.Items list -> list.name().text();
            case Definition.Constraint constraint -> constraint.name().text();
            case Definition.Metric metric -> metric.name().text();
            default -> "";
        };
    }

    static List<SourceFile> files() {
        return FILES.stream().map(MetricLibrary::file).toList();
    }

    private static SourceFile file(String name) {
        try (InputStream in = MetricLibrary.class.getResourceAsStream("metrics/" + name)) {
            if (in == null) {
                throw new IllegalStateException("the agent's image lacks " + name);
            }
            return new SourceFile(name, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
