package org.mdlagent.arch.x86.emit;

import java.util.List;
import java.util.Set;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.SnippetCompiler;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Register;

/// Compiles snippets to x86-64 code.
public final class X86SnippetCompiler implements SnippetCompiler {
    @Override
    public byte[] compile(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations) {
        SnippetFrame trial = new SnippetFrame(place, Set.of());
        byte[] unused = emit(chain, trial, at, optimisations);
        Set<Register> saved = trial.toSave(optimisations.contains(Optimisation.SAVES_ON_DEMAND));
        return emit(chain, new SnippetFrame(place, saved), at, optimisations);
    }

    private static byte[] emit(List<Snippet> chain, SnippetFrame frame, long at, Set<Optimisation> optimisations) {
        Assembler out = new Assembler(at);
        new SnippetAssembler(out, frame, optimisations.contains(Optimisation.DIRECT_OPERANDS))
                .assemble(chain, optimisations.contains(Optimisation.FUSION));
        return out.toBytes();
    }
}
