package org.mdlagent.arch.site;

import org.mdlagent.arch.shim.ClientEntryPoints;

/// Where the code of a probe's snippets runs.
///
/// @param body   what the site's stub leads to
/// @param resume where it goes on, [RecordingCode.ClientBodies#resume]
/// @param call   where it goes to call a function of the program
public record SnippetPlace(Body body, long resume, long call) {
    public static SnippetPlace of(Body body, long resume, ClientEntryPoints shim) {
        return new SnippetPlace(body, resume, body == Body.FUNCTION_EXIT ? shim.callFramed() : shim.call());
    }
}
