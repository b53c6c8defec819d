package org.mdlagent.runtime.mdl;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.SyntaxTree;

/// A file that has been read and checked.
///
/// @param tree        without definitions that have syntax errors
/// @param definitions definitions without errors
/// @param diagnostics all diagnostics, in the order of the file
public record Compilation(SyntaxTree tree, Definitions definitions, List<Diagnostic> diagnostics) {
    /// Reads and checks a file.
    ///
    /// @param known predefined lists and constraints
    public static Compilation of(SourceFile file, Definitions known) {
        Diagnostics diagnostics = new Diagnostics(file);
        SyntaxTree tree = SyntaxTree.parse(file, diagnostics);
        Definitions definitions = new Resolver(tree, known, diagnostics).resolve();
        return new Compilation(tree, definitions, diagnostics.all());
    }

    /// Whether there are no errors.
    public boolean isCorrect() {
        return diagnostics.stream().noneMatch(diagnostic -> diagnostic.severity() == Diagnostic.Severity.ERROR);
    }
}
