package org.mdlagent.arch.site;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.elf.CfaRows;

/// What is found in a program's code: instructions that lead to hooks, to functions and through linkage words.
public interface CodeSearch {
    /// Finds the transfers to hooks in `code`, which lies at `address`, and proves by decoding that each is an
    /// instruction.
    ///
    /// @param ranges what may be decoded; transfers elsewhere are not reported
    HookScan findHooks(byte[] code, long address, CodeRanges ranges, HookTargets targets, LengthDecoder decoder);

    /// Whether the instructions at `address` return without any effect: an empty hook.
    boolean isEmptyFunction(long address);

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

    /// Calls back for what leads to functions: calls and jumps, and instructions that load an address. Finds the bytes
    /// without decoding: it may report one that is no instruction, seldom, and misses none.
    ///
    /// @param code     that lies at `address`
    /// @param absolute whether addresses of functions may stand in instructions as they are
    /// @param starts   offsets from `base` where functions start
    void findReferences(byte[] code, long address, boolean absolute, long base, BitSet starts, FunctionUses uses);

    /// What a function's own code says about its entry.
    ///
    /// @param code the function's bytes, as compiled
    FunctionShape shape(byte[] code, LengthDecoder decoder);

    /// The same without decoding, which is much quicker: it may say more of the entry than is true, never less.
    FunctionShape suspectedShape(byte[] code);

    /// Addresses in `[address, address + code.length)` of linkage stubs (PLT entries) that jump through `slot`.
    ///
    /// @param code the bytes of a linkage section
    List<Long> linkageStubs(byte[] code, long address, long slot);

    /// The slot that a linkage stub (PLT entry) jumps through, 0 when there is none.
    ///
    /// @param stub    bytes that begin where it would
    /// @param address of the first
    long linkageSlot(byte[] stub, long address);

    /// Which of these words, that code reads relative to where it stands, are read by anything but a call or a jump
    /// through them. One more may be, which no instruction reads.
    ///
    /// @param code    that lies at `address`
    /// @param words   addresses of 8 bytes each
    Set<Long> loaded(byte[] code, long address, Set<Long> words);

    /// What code does with the stack above its own frame.
    ///
    /// @param code    one range of the unwind tables, whole, that is executed at `address`
    /// @param rows    of that range
    StackUse stackUse(byte[] code, long address, CfaRows rows, StackUse.Constants constants, LengthDecoder decoder);

    /// Bytes of a direct call.
    int directCallLength();

    /// Where the direct call in front of `returnAddress` leads to, 0 when there is none.
    ///
    /// @param call the [#directCallLength] bytes there
    long directCallTarget(byte[] call, long returnAddress);

    /// Most bytes of a call, direct or not.
    int callLengthMax();

    /// Whether a call ends where these bytes end, which are [#callLengthMax] or fewer. Bytes that happen to look like
    /// one are taken for one.
    boolean endsWithCall(byte[] before);

    /// The first instruction of a function, behind a landing pad for indirect branches and behind data on its type.
    ///
    /// @param function its address
    long firstInstruction(long function);
}
