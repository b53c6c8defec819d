package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.RegularFile;

/// Definitions that come with the agent, read when they are first needed, and those of files.
final class KnownMetrics {
    private @Nullable Definitions definitions;

    Definitions get() {
        if (definitions == null) {
            definitions = MetricLibrary.load();
        }
        return definitions;
    }

    /// Adds what a file defines; what has errors is left out.
    ///
    /// @return what there is to say about it
    List<Diagnostic> load(Path file) throws IOException {
        String text = RegularFile.text(file);
        Compilation compilation = Compilation.of(new SourceFile(file.toString(), text), get());
        definitions = get().with(compilation.definitions());
        return compilation.diagnostics();
    }

    /// A metric by the name that requests use.
    ///
    /// @throws IllegalArgumentException when there is none
    Metric metric(String id) {
        Metric metric = get().metrics().get(id);
        if (metric == null) {
            String hint = Spelling.hint(id, get().metrics().keySet());
            throw new IllegalArgumentException("no metric " + id + (hint == null ? "" : "; " + hint));
        }
        return metric;
    }
}
