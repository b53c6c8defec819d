package org.mdlagent.wordpatch;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Proves, by decoding, that a thread anywhere in a site's old word can go on when the new word is there, and
/// finds out what a thread must do that meets a trapping byte on the way.
///
/// The words are layout-equivalent (PLDI 2016, section 4.1) if every instruction head of the old word is also
/// one of the new word, or has a trapping byte there, from which the thread continues in a copy of the rest
/// of the old word.
final class TransitionProof {
    /// The reason why a word cannot be proved safe as a replacement.
    static final class UnsafePatchException extends Exception {
        private static final long serialVersionUID = 1;

        private final String reason;

        UnsafePatchException(String reason) {
            super(reason);
            this.reason = reason;
        }

        String reason() {
            return reason;
        }
    }

    private final NativeApi api;
    private final CodeMemory code;
    private final CodeArena arena;
    private final TrapTable traps;
    private final TrapMode mode;
    private final InstructionSet instructions;

    TransitionProof(
            NativeApi api,
            CodeMemory code,
            CodeArena arena,
            TrapTable traps,
            TrapMode mode,
            InstructionSet instructions) {
        this.api = api;
        this.code = code;
        this.arena = arena;
        this.traps = traps;
        this.mode = mode;
        this.instructions = instructions;
    }

    /// @throws UnsafePatchException when the words are not layout-equivalent, or an instruction that must be
    ///     relocated cannot be
    Transition prove(PatchSite site, long from, long to) throws UnsafePatchException {
        int length = site.length();
        byte[] before = bytes(from, length);
        byte[] after = bytes(to, length);
        int[] oldHeads = heads("old", before);
        int[] newHeads = heads("new", after);
        if (after[0] == instructions.relocation().trapByte()) {
            throw new UnsafePatchException("the new word traps at once");
        }
        List<Transition.Trap> interior = new ArrayList<>(0);
        int[] trapping = Arrays.stream(oldHeads)
                .filter(at ->
                        at < length && after[at] == instructions.relocation().trapByte())
                .toArray();
        for (int at : oldHeads) {
            if (Arrays.binarySearch(trapping, at) >= 0) {
                interior.add(trap(site, from, before, at, length));
            } else if (Arrays.binarySearch(newHeads, at) < 0) {
                throw new UnsafePatchException("not layout-equivalent: the old word has an instruction at +" + at
                        + ", where the new one has the inside of another");
            }
        }
        Part tail = site.tail();
        if (tail == null) {
            return new Transition(from, to, false, site.front(), null, List.copyOf(interior));
        }
        int boundary = tail.offset() / Byte.SIZE;
        int straddler = straddler(oldHeads, boundary);
        Transition.Head head = null;
        if (straddler >= 0) {
            int stays = Arrays.binarySearch(trapping, straddler);
            int end = oldHeads[Arrays.binarySearch(oldHeads, straddler) + 1];
            head = stays >= 0
                    ? head(site, straddler, interior.get(stays), true)
                    : head(site, straddler, trap(site, from, before, straddler, end), false);
        }
        boolean straddles = straddler >= 0 || straddler(newHeads, boundary) >= 0;
        Part onlySide = !tail.differs(from, to) ? site.front() : !site.front().differs(from, to) ? tail : null;
        return new Transition(from, to, straddles, onlySide, head, List.copyOf(interior));
    }

    private static Transition.Head head(PatchSite site, int at, Transition.Trap trap, boolean stays) {
        return new Transition.Head(site.alias() + at, trap.row(), trap.action(), stays);
    }

    /// The head of the instruction that straddles the boundary, -1 when one begins there.
    private static int straddler(int[] heads, int boundary) {
        int found = Arrays.binarySearch(heads, boundary);
        return found >= 0 ? -1 : heads[-found - 2];
    }

    /// Offsets of the instructions in a word, followed by its length.
    private int[] heads(String which, byte[] word) throws UnsafePatchException {
        byte[] lengths;
        long decoded;
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment in = memory.allocate(2L * Long.BYTES, Long.BYTES);
            long out = in.address() + Long.BYTES;
            Memory.put(in.address(), word);
            decoded = api.decode(in.address(), word.length, out);
            lengths = Memory.copy(out, word.length);
        }
        if (decoded != word.length) {
            throw new UnsafePatchException("the " + which + " word is not a sequence of whole instructions");
        }
        int[] heads = new int[word.length + 1];
        int count = 0;
        for (int at = 0; at < word.length; at += lengths[at]) {
            heads[count++] = at;
        }
        heads[count++] = word.length;
        return Arrays.copyOf(heads, count);
    }

    /// Leads a thread that meets a trapping byte at offset `at` through the instructions of the old word up
    /// to offset `end`.
    private Transition.Trap trap(PatchSite site, long from, byte[] before, int at, int end)
            throws UnsafePatchException {
        long row = traps.row(site.address() + at);
        if (mode == TrapMode.SPIN) {
            return new Transition.Trap(row, new Redirect.Spin().action());
        }
        byte[] old = Arrays.copyOfRange(before, at, end);
        Redirect redirect = instructions.relocation().redirect(old, site.address() + at);
        if (redirect != null) {
            return new Transition.Trap(row, redirect.action());
        }
        long known = site.headAction(from, row);
        return new Transition.Trap(
                row, known != 0 ? known : new Redirect.Jump(copy(old, site.address() + at)).action());
    }

    /// Copies are permanent: a thread may be in one at any time.
    private long copy(byte[] old, long address) throws UnsafePatchException {
        try {
            int size = instructions.relocation().relocate(api, old, address, address).length;
            long at = arena.allocate(address, size);
            Memory.put(code.alias(at), instructions.relocation().relocate(api, old, address, at));
            return at;
        } catch (IllegalArgumentException | IOException e) {
            throw new UnsafePatchException("the old instruction cannot be executed elsewhere: " + e.getMessage());
        }
    }

    private static byte[] bytes(long word, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (word >>> i * Byte.SIZE);
        }
        return bytes;
    }
}
