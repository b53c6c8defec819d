package org.mdlagent.arch.snippet;

import java.util.List;
import java.util.Set;
import org.mdlagent.arch.site.SnippetPlace;

/// Makes code of snippets.
public interface SnippetCompiler {
    /// The code of a site's snippets, to which [RecordingCode.ClientBodies#snippets] leads.
    ///
    /// @param chain         in the order in which they run, as an [Optimiser] has left it
    /// @param at            where it will stand; its length does not depend on it
    /// @param optimisations what is done to make it cheaper beyond that
    /// @throws IllegalArgumentException when a snippet asks for what is not known there, or for too many registers
    byte[] compile(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations);
}
