package org.mdlagent.runtime.mdl;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// The metrics that come with the agent.
public final class MetricLibrary {
    /// Each may use what stands in those before it.
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

    static List<SourceFile> files() {
        return FILES.stream().map(MetricLibrary::file).toList();
    }

    private static SourceFile file(String name) {
        try (InputStream in = MetricLibrary.class.getResourceAsStream("metrics/" + name)) {
            if (in == null) {
                throw new IllegalStateException("the agent comes without " + name);
            }
            return new SourceFile(name, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
