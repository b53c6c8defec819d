package org.mdlagent.runtime.mdl.syntax;

import java.util.List;
import java.util.Set;

/// A file that has been read.
///
/// @param definitions those without errors of syntax, in the order of the file
/// @param defective   names of the others
public record SyntaxTree(SourceFile file, List<Definition> definitions, Set<String> defective) {
    /// Reads a file.
    ///
    /// @param diagnostics takes every error
    public static SyntaxTree parse(SourceFile file, Diagnostics diagnostics) {
        TokenStream tokens = new TokenStream(file, diagnostics);
        return new DefinitionParser(tokens).tree(file);
    }
}
