package org.mdlagent.arch.site;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.elf.CfaRows;

/// Searches a program's code: for transfers to hooks, to functions, and through linkage words.
public interface CodeSearch {
    /// Targets of transfers to instrumentation hooks, as addresses in memory.
    ///
    /// @param entries    addresses of the entry hook: linkage stubs, or the hook itself
    /// @param exits      the same for the exit hook
    /// @param entrySlots slots with the address of the entry hook
    /// @param exitSlots  the same for the exit hook
    record HookTargets(long[] entries, long[] exits, long[] entrySlots, long[] exitSlots) {}

    /// What a search for hook transfers found.
    ///
    /// @param sites         in ascending order of address
    /// @param unproved      candidates outside all ranges, or not on an instruction boundary
    /// @param unpatchable   transfers in a form that cannot be toggled, such as conditional jumps
    record HookScan(List<SiteInstruction> sites, int unproved, int unpatchable) {}

    /// Properties of a function's entry, found in its own code.
    ///
    /// @param loops        whether a branch leads to its first byte
    /// @param intoEntry    whether a branch leads into the bytes after the first that a jump at the entry covers
    record FunctionShape(boolean loops, boolean intoEntry) {}

    /// Receives references to functions from [CodeSearch#findReferences].
    interface FunctionUses {
        /// An instruction jumps to a function's start.
        ///
        /// @param from        an address in the instruction
        /// @param conditional whether execution may continue after it
        void jump(long from, long function, boolean conditional);

        /// An instruction calls a function or takes its address.
        void reference(long function);
    }

    /// Finds the transfers to hooks in `code`, which lies at `address`, and proves by decoding that each is an
    /// instruction.
    ///
    /// @param ranges decodable ranges; transfers elsewhere are not reported
    HookScan findHooks(byte[] code, long address, CodeRanges ranges, HookTargets targets, LengthDecoder decoder);

    /// Whether the function at `address` is an empty hook: it returns without any effect.
    boolean isEmptyFunction(long address);

    /// Finds which parts of a function's code belong to functions inlined into it.
    ///
    /// @param code  its bytes
    /// @param hooks the calls of hooks in it, by offset
    /// @return entry hooks by the start offset of each part, which extends to the next one; null for code that is
    ///     not inlined. An exit hook belongs to the code after it
    NavigableMap<Integer, @Nullable SiteInstruction> inlineScopes(
            byte[] code, Map<Integer, SiteInstruction> hooks, LengthDecoder decoder);

    /// Finds the calls in a piece of code and the jumps out of it, in ascending order of address.
    ///
    /// @param code    its bytes
    /// @param address where it is executed
    List<Transfer> transfers(byte[] code, long address, LengthDecoder decoder);

    /// Calls back for references to functions: calls, jumps, and instructions that load an address. Matches bytes
    /// without decoding: there are rare false positives, but no false negatives.
    ///
    /// @param code     that lies at `address`
    /// @param absolute whether instructions may contain absolute addresses of functions
    /// @param starts   start offsets of functions from `base`
    void findReferences(byte[] code, long address, boolean absolute, long base, BitSet starts, FunctionUses uses);

    /// Properties of a function's entry, found in its own code.
    ///
    /// @param code the function's bytes, as compiled
    FunctionShape shape(byte[] code, LengthDecoder decoder);

    /// The same without decoding, which is much faster. May report too much, never too little.
    FunctionShape suspectedShape(byte[] code);

    /// Addresses in `[address, address + code.length)` of linkage stubs (PLT entries) that jump through `slot`.
    ///
    /// @param code the bytes of a linkage section
    List<Long> linkageStubs(byte[] code, long address, long slot);

    /// The slot that a linkage stub (PLT entry) jumps through, or 0.
    ///
    /// @param stub    bytes that begin where it would, [#linkageStubBytes] of them if there are as many
    /// @param address of the first
    long linkageSlot(byte[] stub, long address);

    /// The length of the longest linkage stub, up to the end of its jump.
    int linkageStubBytes();

    /// Which of these words are read, RIP-relative, by anything but a call or jump through them. There may be
    /// false positives.
    ///
    /// @param code    that lies at `address`
    /// @param words   addresses of 8 bytes each
    Set<Long> loaded(byte[] code, long address, Set<Long> words);

    /// How code uses the stack above its own frame.
    ///
    /// @param code    one range of the unwind tables, whole, that is executed at `address`
    /// @param rows    of that range
    StackUse stackUse(byte[] code, long address, CfaRows rows, StackUse.Constants constants, LengthDecoder decoder);

    /// Bytes of a direct call.
    int directCallLength();

    /// Target of the direct call before `returnAddress`, or 0.
    ///
    /// @param call the [#directCallLength] bytes there
    long directCallTarget(byte[] call, long returnAddress);

    /// Maximum length of a call, direct or indirect.
    int callLengthMax();

    /// Whether these bytes, at most [#callLengthMax], end with a call. Bytes that only look like a call count too.
    boolean endsWithCall(byte[] before);

    /// The first instruction of a function, after a landing pad for indirect branches and type data.
    ///
    /// @param function its address
    long firstInstruction(long function);
}
