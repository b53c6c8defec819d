package org.mdlagent.arch.x86.emit;

import java.util.List;
import java.util.Set;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.SnippetCompiler;

/// Makes x86-64 code of snippets.
public final class X86SnippetCompiler implements SnippetCompiler {
    @Override
    public byte[] compile(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations) {
        return SnippetAssembler.assemble(chain, place, at, optimisations);
    }
}
