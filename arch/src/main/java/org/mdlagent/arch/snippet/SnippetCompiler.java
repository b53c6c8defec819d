package org.mdlagent.arch.snippet;

import java.util.List;
import java.util.Set;
import org.mdlagent.arch.site.SnippetPlace;

/// Compiles snippets.
public interface SnippetCompiler {
    /// The code of a site's snippets, to which [RecordingCode.ClientBodies#snippets] leads.
    ///
    /// @param chain         in execution order, optimised by an [Optimiser]
    /// @param at            its future address; its length does not depend on it
    /// @param optimisations further optimisations to apply
    /// @throws IllegalArgumentException if a snippet needs a value that is unknown there, or too many registers
    byte[] compile(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations);
}
