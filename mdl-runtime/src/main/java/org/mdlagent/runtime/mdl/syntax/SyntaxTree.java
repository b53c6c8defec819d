package org.mdlagent.runtime.mdl.syntax;

import java.util.List;
import java.util.Set;

/// A parsed file.
///
/// @param definitions definitions without syntax errors, in the order of the file
/// @param defective   names of the others
public record SyntaxTree(SourceFile file, List<Definition> definitions, Set<String> defective) {
    /// Parses a file.
    ///
    /// @param diagnostics receives every error
    public static SyntaxTree parse(SourceFile file, Diagnostics diagnostics) {
        TokenStream tokens = new TokenStream(file, diagnostics);
        return new DefinitionParser(tokens).tree(file);
    }
}
