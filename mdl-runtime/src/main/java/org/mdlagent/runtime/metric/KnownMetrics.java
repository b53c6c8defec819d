package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.RegularFile;

/// Built-in definitions, read on demand, and those of files.
final class KnownMetrics {
    private @Nullable Definitions definitions;

    /// Definitions by requests.
    private final Set<String> defined = new HashSet<>();

    Definitions get() {
        if (definitions == null) {
            definitions = MetricLibrary.load();
        }
        return definitions;
    }

    /// Adds a file's definitions, without those with errors.
    ///
    /// @return diagnostics
    List<Diagnostic> load(Path file) throws IOException {
        String text = RegularFile.text(file);
        Compilation compilation = Compilation.of(new SourceFile(file.toString(), text), get());
        definitions = get().with(compilation.definitions());
        return compilation.diagnostics();
    }

    /// Adds a definition; repeating the same text has no effect.
    ///
    /// @param used metrics that must not change
    /// @throws IllegalArgumentException if it has errors, or changes a metric in use
    void define(String text, Set<String> used) {
        if (defined.contains(text)) {
            return;
        }
        Compilation compilation = Compilation.of(new SourceFile("definition", text), get());
        for (Diagnostic diagnostic : compilation.diagnostics()) {
            if (diagnostic.severity() == Diagnostic.Severity.ERROR) {
                throw new IllegalArgumentException(diagnostic.message());
            }
        }
        for (String metric : compilation.definitions().metrics().keySet()) {
            if (used.contains(metric)) {
                throw new IllegalArgumentException(metric
                        + " is enabled with another definition: disable that first, or give this one another name");
            }
        }
        definitions = get().with(compilation.definitions());
        defined.add(text);
    }

    /// A metric by its name in requests.
    ///
    /// @throws IllegalArgumentException if there is none
    Metric metric(String id) {
        Metric metric = get().metrics().get(id);
        if (metric == null) {
            String hint = Spelling.hint(id, get().metrics().keySet());
            throw new IllegalArgumentException("no metric " + id + (hint == null ? "" : "; " + hint));
        }
        return metric;
    }
}
