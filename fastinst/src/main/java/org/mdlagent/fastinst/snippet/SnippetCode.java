package org.mdlagent.fastinst.snippet;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;

/// Memory for the code of snippets, which is registered with unwinders and debuggers by block: in one kind of
/// block the return address is on the stack, in the other in the frame of a whole function.
final class SnippetCode {
    private static final long BYTES_MAX = 64L << 20;

    private final NativeApi api;
    private final InstructionSet instructions;
    private final CodeMemory code;
    private final RecordingEntryPoints recording;
    private final CodeArena called;
    private final CodeArena inCall;
    private final CodeArena unwindTables;

    SnippetCode(NativeApi api, InstructionSet instructions, CodeMemory code, RecordingEntryPoints recording) {
        this.api = api;
        this.instructions = instructions;
        this.code = code;
        this.recording = recording;
        called = new CodeArena(code, BYTES_MAX, describing(TrampolineRange.Kind.LEAF));
        inCall = new CodeArena(code, BYTES_MAX, describing(TrampolineRange.Kind.IN_CALL));
        unwindTables = new CodeArena(code, BYTES_MAX);
    }

    private CodeArena.BlockListener describing(TrampolineRange.Kind kind) {
        return (start, length) -> {
            TrampolineRange range = new TrampolineRange(start, length, kind);
            long table = unwindTables.allocate(start, unwindTable(range, start).length);
            Memory.put(code.alias(table), unwindTable(range, table));
            api.addTrampolines(start, length, table);
        };
    }

    private byte[] unwindTable(TrampolineRange range, long at) {
        return instructions.stubs().unwindTable(at, List.of(range), recording);
    }

    /// Checks whether snippets can run at a place.
    ///
    /// @throws IllegalArgumentException when they cannot, with the reason
    void require(List<Snippet> chain, SnippetPlace place, Set<Optimisation> optimisations) {
        byte[] unused = instructions.snippets().compile(chain, place, place.resume(), optimisations);
    }

    /// The place where a site's snippets run.
    ///
    /// @param resume where they continue afterwards
    SnippetPlace place(Body body, long resume) {
        return SnippetPlace.of(body, resume, recording.clients());
    }

    /// Adds the code of a site's snippets and returns its address.
    ///
    /// @throws IllegalArgumentException when a snippet cannot run there
    /// @throws IOException when code memory is refused
    long add(List<Snippet> chain, SnippetPlace place, Set<Optimisation> optimisations) throws IOException {
        int length = instructions.snippets().compile(chain, place, place.resume(), optimisations).length;
        long at = arena(place.body()).allocate(place.resume(), length);
        Memory.put(code.alias(at), instructions.snippets().compile(chain, place, at, optimisations));
        return at;
    }

    /// Frees the code at an address returned by [#add]. No thread may be in it or able to reach it.
    void remove(long at, Body body) {
        arena(body).free(at);
    }

    /// Bytes of code in use.
    long used() {
        return called.usage().used() + inCall.usage().used();
    }

    private CodeArena arena(Body body) {
        return body == Body.FUNCTION_EXIT ? inCall : called;
    }
}
