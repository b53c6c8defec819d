package org.mdlagent.arch.site;

import java.util.Map;

/// Position-dependent code that records calls, in the order in which it stands, and calls clients.
///
/// @param bytes         the code
/// @param entry         offset of what entry stubs go on in
/// @param exit          offset of what exit stubs go on in
/// @param functionEntry offset of what stubs of whole functions call
/// @param functionExit  offset of what they go on in when the body has returned
/// @param siblingExit   offset of what they go on in when they were left by a sibling call
/// @param count         offset of what stubs that count call
/// @param countAlone    offset of the same where the stack may have no room for a slow path
/// @param clients       in place of each of these where a site has a client
public record RecordingCode(
        byte[] bytes,
        int entry,
        int exit,
        int functionEntry,
        int functionExit,
        int siblingExit,
        int count,
        int countAlone,
        Map<Body, ClientBodies> clients) {

    /// Offsets of what runs a site's client and then records, if the recorder wants the site.
    ///
    /// @param call     calls the client
    /// @param count    counts in the thread's block, without a call
    /// @param snippets runs the site's snippets, then its client, if it has one
    /// @param resume   where snippets go on
    public record ClientBodies(int call, int count, int snippets, int resume) {}

    /// Offset of the body that only records.
    public int record(Body body) {
        return switch (body) {
            case ENTRY -> entry;
            case EXIT -> exit;
            case FUNCTION_ENTRY -> functionEntry;
            case FUNCTION_EXIT -> functionExit;
            case COUNT -> count;
        };
    }
}
