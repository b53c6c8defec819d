package org.mdlagent.arch.site;

import java.util.Map;

/// Position-dependent code that records calls and calls clients. Offsets are in ascending order.
///
/// @param bytes         the code
/// @param entry         offset of the code that entry stubs jump to
/// @param exit          offset of the code that exit stubs jump to
/// @param functionEntry offset of the code that stubs of whole functions call at entry
/// @param functionExit  offset of the code that these stubs jump to after the body has returned
/// @param siblingExit   offset of the code that these stubs jump to after a sibling call
/// @param count         offset of the code that counting stubs call
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

    /// Offsets of code that runs a site's client and then records, if the recorder wants the site.
    ///
    /// @param call     calls the client
    /// @param count    counts in the thread's block, without a call
    /// @param snippets runs the site's snippets, then its client, if it has one
    /// @param resume   continuation after snippets
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
