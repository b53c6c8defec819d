package org.mdlagent.arch.site;

import java.util.List;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.RecordingEntryPoints;

/// The code of trampolines: stubs, one for each site, and the recording code that all of them go on in.
public interface StubCode {
    /// The code that records entries and exits.
    ///
    /// @param at the address where it will stand
    RecordingCode recordingCode(RecordingEntryPoints shim, long at);

    /// Size of a hook stub, a multiple of 8.
    int hookStubSize();

    /// The code of a stub that computes the frame's key, loads the address of the site's record and goes on in
    /// `body`.
    ///
    /// @param at   the address where it will stand, a multiple of 8
    /// @param body entry or exit of the recording code
    byte[] hookStub(SiteInstruction site, FrameKey key, long record, long at, long body);

    /// Size of the stub of a whole function: a power of two, and it stands at a multiple of it.
    int functionStubSize();

    /// The code of a stub that calls the function's body, between `entry` and `exit` of the recording code.
    ///
    /// @param site  address of the site's record
    /// @param at    the address where it will stand
    /// @param body  where the function goes on behind the site
    /// @param entry of the recording code, for whole functions
    /// @param exit  of the recording code, for whole functions
    /// @param siblingExit of the recording code, where a sibling call ends a call
    byte[] functionStub(long site, long at, long body, long entry, long exit, long siblingExit);

    /// Size of a counter: a power of two, and it stands at a multiple of it.
    int counterSize();

    /// The code that the stub of a whole function leads to while nothing is wanted but the number of calls: it counts
    /// and goes on in the body.
    ///
    /// @param at        the address where it will stand
    /// @param stub      address of the stub
    /// @param body      where the function goes on behind the site
    /// @param index     of the function
    /// @param tlsOffset of the word that points to the thread's block, from the thread pointer
    byte[] counter(long at, long stub, long body, int index, int tlsOffset);

    /// What one store puts at the beginning of the stub of a whole function to lead it to its counter: eight bytes.
    ///
    /// @param distance from the stub to the counter
    long counterHead(int distance);

    /// Size of a stub that counts: a power of two, and it stands at a multiple of it.
    int countStubSize();

    /// The code of a stub that counts a call and keeps every register. The site calls it; or jumps to
    /// [#countEntryAt] in it, and the stub goes on in the function's body, with nothing on the stack.
    ///
    /// @param site  address of the site's record
    /// @param at    the address where it will stand
    /// @param count of the recording code
    /// @param body  where the function goes on behind a site that jumps; 0 where the site calls
    byte[] countStub(long site, long at, long count, long body);

    /// Offset in such a stub where sites come in that jump.
    int countEntryAt();

    /// Size of an import stub: a power of two, and it stands at a multiple of it.
    int importStubSize();

    /// The code of a function that goes on in another one, and begins with a site of the form
    /// [SiteInstruction.Form#NOP].
    ///
    /// @param at     the address where it will stand
    /// @param target address of the other one, from anywhere
    byte[] importStub(long at, long target);

    /// The site at the beginning of an import stub.
    SiteInstruction importSite(long at);

    /// Offset in a stub of the 32-bit displacement that leads to a body: naturally aligned, counted from its end.
    int displacementAt(Body body);

    /// What unwinders need to know of generated code: `.eh_frame_hdr` and `.eh_frame` (Linux Standard Base, Core,
    /// 10.6).
    ///
    /// @param at          where it will stand, within reach of the code; the length does not depend on it
    /// @param ranges      in ascending order of address
    /// @param shim        what the recording code was made with
    byte[] unwindTable(long at, List<TrampolineRange> ranges, RecordingEntryPoints shim);
}
