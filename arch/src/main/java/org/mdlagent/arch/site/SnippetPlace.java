package org.mdlagent.arch.site;

import org.mdlagent.arch.shim.ClientEntryPoints;

/// The place where a probe's snippets run.
///
/// @param body   the body that the site's stub leads to
/// @param resume the continuation, [RecordingCode.ClientBodies#resume]
/// @param call   the entry point for calls of the program's functions
public record SnippetPlace(Body body, long resume, long call) {
    public static SnippetPlace of(Body body, long resume, ClientEntryPoints shim) {
        return new SnippetPlace(body, resume, body == Body.FUNCTION_EXIT ? shim.callFramed() : shim.call());
    }
}
