package org.mdlagent.arch.site;

import java.util.List;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.RecordingEntryPoints;

/// The code of trampolines: one stub per site, and the recording code that all stubs continue in.
public interface StubCode {
    /// The code that records entries and exits.
    ///
    /// @param at its future address
    RecordingCode recordingCode(RecordingEntryPoints shim, long at);

    /// Size of a hook stub, a multiple of 8.
    int hookStubSize();

    /// The code of a stub that computes the frame's key, loads the address of the site's record and continues in
    /// `body`.
    ///
    /// @param at   its future address, a multiple of 8
    /// @param body entry or exit of the recording code
    byte[] hookStub(SiteInstruction site, FrameKey key, long record, long at, long body);

    /// Size and alignment of a whole function's stub, a power of two.
    int functionStubSize();

    /// The code of a stub that calls the function's body, between `entry` and `exit` of the recording code.
    ///
    /// @param site  address of the site's record
    /// @param at    its future address
    /// @param body  continuation of the function after the site
    /// @param entry of the recording code, for whole functions
    /// @param exit  of the recording code, for whole functions
    /// @param siblingExit of the recording code, where a sibling call ends a call
    byte[] functionStub(long site, long at, long body, long entry, long exit, long siblingExit);

    /// Size and alignment of a counter, a power of two.
    int counterSize();

    /// The counter: the stub of a whole function leads to it while only the number of calls is needed. It counts
    /// and continues in the body.
    ///
    /// @param at        its future address
    /// @param stub      address of the stub
    /// @param body      continuation of the function after the site
    /// @param index     of the function
    /// @param tlsOffset of the word that points to the thread's block, from the thread pointer
    byte[] counter(long at, long stub, long body, int index, int tlsOffset);

    /// The eight bytes that one store puts at the start of a whole function's stub to lead it to its counter.
    ///
    /// @param distance from the stub to the counter
    long counterHead(int distance);

    /// Size and alignment of a counting stub, a power of two.
    int countStubSize();

    /// The code of a stub that counts a call and preserves every register. The site calls it; or the site jumps to
    /// [#countEntryAt] in it, and the stub continues in the function's body with nothing on the stack.
    ///
    /// @param site  address of the site's record
    /// @param at    its future address
    /// @param count of the recording code
    /// @param body  continuation of the function after a site that jumps; 0 if the site calls
    byte[] countStub(long site, long at, long count, long body);

    /// Offset in such a stub of the entry for sites that jump.
    int countEntryAt();

    /// Size and alignment of an import stub, a power of two.
    int importStubSize();

    /// The code of a function that begins with a site of the form [SiteInstruction.Form#NOP] and continues in
    /// another function.
    ///
    /// @param at     its future address
    /// @param target address of the other function, at any distance
    byte[] importStub(long at, long target);

    /// The site at the beginning of an import stub.
    SiteInstruction importSite(long at);

    /// Offset in a stub of the naturally aligned 32-bit displacement to a body, relative to its end.
    int displacementAt(Body body);

    /// The unwind tables of generated code: `.eh_frame_hdr` and `.eh_frame` (Linux Standard Base, Core, 10.6).
    ///
    /// @param at          its future address, within reach of the code; the length does not depend on it
    /// @param ranges      in ascending order of address
    /// @param shim        the entry points of the recording code
    byte[] unwindTable(long at, List<TrampolineRange> ranges, RecordingEntryPoints shim);
}
