package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Collects the diagnostics of one file.
public final class Diagnostics {
    private static final int ERRORS_MAX = 100;

    private final SourceFile file;
    private final List<Diagnostic> all = new ArrayList<>();
    private final Set<String> ignored = new HashSet<>();
    private int errors;

    public Diagnostics(SourceFile file) {
        this.file = file;
    }

    public void error(int at, String message) {
        error(at, message, null);
    }

    /// Adds an error, up to a hundred: a file that is not MDL has one on each line.
    public void error(int at, String message, @Nullable String hint) {
        errors++;
        if (errors < ERRORS_MAX) {
            all.add(new Diagnostic(file, at, Diagnostic.Severity.ERROR, message, hint));
        } else if (errors == ERRORS_MAX) {
            all.add(new Diagnostic(
                    file, at, Diagnostic.Severity.ERROR, "too many errors, the others are not shown", hint));
        }
    }

    /// Reports once per file that something is ignored here.
    public void ignored(int at, String message) {
        if (ignored.add(message)) {
            all.add(new Diagnostic(file, at, Diagnostic.Severity.IGNORED, message, null));
        }
    }

    public int errors() {
        return errors;
    }

    /// In the order of the file.
    public List<Diagnostic> all() {
        return all.stream().sorted(Comparator.comparingInt(Diagnostic::at)).toList();
    }
}
