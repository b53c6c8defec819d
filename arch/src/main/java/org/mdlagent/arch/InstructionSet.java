package org.mdlagent.arch;

import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.cpu.Cpu;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.HookScan;
import org.mdlagent.arch.site.HookTargets;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.site.Transfer;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.x86.X86InstructionSet;

/// What the layers above ask of an instruction set. No code outside this package's children names one.
///
/// The Java memory model says nothing of instruction fetch. What holds here, and all that patch protocols may rely
/// on: a store of up to eight bytes inside one naturally aligned [#atomicUnit] is fetched by another core wholly or
/// not at all (AMD64 Architecture Programmer's Manual, volume 2, section 7.6.1: architectural for 8; for 64, on
/// Intel, empirical, see "Living on the Edge", PLDI 2016, section 3), and a core that has serialised fetches what was
/// stored before.
public interface InstructionSet {
    /// The instruction set of this machine.
    static InstructionSet host() {
        return new X86InstructionSet(Cpu.atomicUnit());
    }

    /// The instruction set of this machine as if stores to code were atomic for fetch within `atomicUnit` bytes, so
    /// that tests see the rules for both kinds of processor.
    static InstructionSet ofAtomicUnit(int atomicUnit) {
        return new X86InstructionSet(atomicUnit);
    }

    /// Bytes within which a store to code is atomic for instruction fetch.
    int atomicUnit();

    /// Addresses in `[address, address + code.length)` of linkage stubs (PLT entries) that jump through `slot`.
    ///
    /// @param code the bytes of a linkage section
    List<Long> linkageStubs(byte[] code, long address, long slot);

    /// Whether the instructions at `address` return without any effect: an empty hook.
    boolean isEmptyFunction(long address);

    /// Finds the transfers to hooks in `code`, which lies at `address`, and proves by decoding that each is an
    /// instruction.
    ///
    /// @param ranges what may be decoded; transfers elsewhere are not reported
    HookScan findHooks(byte[] code, long address, CodeRanges ranges, HookTargets targets, LengthDecoder decoder);

    /// Finds out which parts of a function's code are those of others that are inlined there.
    ///
    /// @param code  its bytes
    /// @param hooks the calls of hooks in it, by offset
    /// @return by the offset where it begins, the entry hook of what each part belongs to, up to the next one; null
    ///     for what is in none. An exit hook belongs to what goes on behind it
    NavigableMap<Integer, @Nullable SiteInstruction> inlineScopes(
            byte[] code, Map<Integer, SiteInstruction> hooks, LengthDecoder decoder);

    /// Finds the calls in a piece of code and the jumps that leave it, in ascending order of address.
    ///
    /// @param code    its bytes
    /// @param address where it is executed
    List<Transfer> transfers(byte[] code, long address, LengthDecoder decoder);

    /// The slot that a linkage stub (PLT entry) jumps through, 0 when there is none.
    ///
    /// @param stub    bytes that begin where it would
    /// @param address of the first
    long linkageSlot(byte[] stub, long address);

    /// Bytes of a direct call.
    int directCallLength();

    /// Where the direct call in front of `returnAddress` leads to, 0 when there is none.
    ///
    /// @param call the [#directCallLength] bytes there
    long directCallTarget(byte[] call, long returnAddress);

    /// The first instruction of a function, behind a landing pad for indirect branches and behind data on its type.
    ///
    /// @param function its address
    long firstInstruction(long function);

    /// The site that a compiler has left at `at`: a call, or what does nothing and is large enough for a jump.
    ///
    /// @param end      behind the last byte that may be read
    /// @param function address of the function that it is in
    /// @param room     bytes in front of the function that may be changed
    /// @return null when nothing is there that can be made to toggle
    @Nullable
    SiteInstruction entrySite(long at, long end, SiteInstruction.Role role, long function, int room);

    /// The places that the site can lead to, where a hop to the stub stands; none when it can lead to any within reach.
    /// [#plan] may refuse one all the same.
    ///
    /// @return the best first; of runs of NOPs the n-th is as far from one site as from another
    long[] hops(SiteInstruction site);

    /// The code of a hop.
    ///
    /// @param at where it will stand
    byte[] hop(long at, long target);

    /// The stores that make `site` toggle between nothing and a transfer to `target`.
    ///
    /// @param target     the stub, or one of [#hops]
    /// @param returnStub address of an instruction that only returns, within reach of the site
    /// @throws IllegalArgumentException when the bytes at the site are not what `site` says, or a target is out of
    ///     reach
    PatchPlan plan(SiteInstruction site, long target, long returnStub);

    /// The code that records entries and exits.
    ///
    /// @param at the address where it will stand
    RecordingCode recordingCode(RecordingEntryPoints shim, long at);

    /// Size of the stub of a whole function: a power of two, and it stands at a multiple of it.
    int functionStubSize();

    /// The code of a stub that calls the function's body, between `entry` and `exit` of the recording code.
    ///
    /// @param site  address of the site's record
    /// @param at    the address where it will stand
    /// @param body  where the function goes on behind the site
    /// @param entry of the recording code, for whole functions
    /// @param exit  of the recording code, for whole functions
    byte[] functionStub(long site, long at, long body, long entry, long exit);

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

    /// Which of these words, that code reads relative to where it stands, are read by anything but a call or a jump
    /// through them. One more may be, which no instruction reads.
    ///
    /// @param code    that lies at `address`
    /// @param words   addresses of 8 bytes each
    Set<Long> loaded(byte[] code, long address, Set<Long> words);

    /// Size of a stub that counts: a power of two, and it stands at a multiple of it.
    int countStubSize();

    /// The code of a stub that counts a call and keeps every register. The site calls it.
    ///
    /// @param site  address of the site's record
    /// @param at    the address where it will stand
    /// @param count of the recording code
    byte[] countStub(long site, long at, long count);

    /// What unwinders need to know of generated code: `.eh_frame_hdr` and `.eh_frame` (Linux Standard Base, Core,
    /// 10.6).
    ///
    /// @param at          where it will stand, within reach of the code; the length does not depend on it
    /// @param ranges      in ascending order of address
    /// @param shim        what the recording code was made with
    /// @param personality of stubs of whole functions
    byte[] unwindTable(long at, List<TrampolineRange> ranges, RecordingEntryPoints shim, long personality);

    /// The code of a site's snippets, to which [RecordingCode.ClientBodies#snippets] leads.
    ///
    /// @param chain         in the order in which they run
    /// @param at            where it will stand; its length does not depend on it
    /// @param optimisations what is done to make it cheaper
    /// @throws IllegalArgumentException when a snippet asks for what is not known there, or for too many registers
    byte[] snippets(List<Snippet> chain, SnippetPlace place, long at, Set<Optimisation> optimisations);

    /// Size of a hook stub, a multiple of 8.
    int hookStubSize();

    /// The code of a stub that computes the frame's key, loads the address of the site's record and goes on in
    /// `body`.
    ///
    /// @param at   the address where it will stand, a multiple of 8
    /// @param body entry or exit of the recording code
    byte[] hookStub(SiteInstruction site, FrameKey key, long record, long at, long body);

    /// Offset in a stub of the 32-bit displacement that leads to a body: naturally aligned, counted from its end.
    int displacementAt(Body body);

    /// The store that makes the hook stub at `stub` go on in `body`.
    ///
    /// @throws IllegalArgumentException when there is no hook stub, or `body` is out of reach
    CodeStore retarget(long stub, long body);

    /// The code of a function that only returns.
    byte[] emptyFunction();

    /// A one-byte instruction that traps, for [TrapTable]'s handler to redirect the thread.
    byte trapByte();

    /// What has the effect of the instruction `code`, which stands at `address`, without a copy of it.
    ///
    /// @return null when only a copy has ([#relocate])
    @Nullable
    Redirect redirect(byte[] code, long address);

    /// The code that, standing at `at`, has the effect of the instructions `code` at `address`, and then goes on behind
    /// them.
    ///
    /// @throws IllegalArgumentException when there is none, with the reason
    byte[] relocate(NativeApi decoder, byte[] code, long address, long at);
}
