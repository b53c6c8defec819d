package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.Transfer;

/// Which functions bring back the register in which a probe of the whole call has its frame (System V ABI, AMD64
/// supplement, 3.2.1: it belongs to the caller).
///
/// Those of compilers do. One in assembly language whose callers know it may not, as those in the middle of libcrypto's
/// hashes: they have all registers for themselves. A function keeps the register if its unwind table says that it is
/// saved, or if neither itself changes it nor any that it leads to without having saved it.
final class KeptFrames {
    private final ElfFile elf;
    private final CodeSearch search;
    private final EhFrame frames;

    /// By range of the unwind tables: what is known of it, and whether its table has been asked.
    private final BitSet kept = new BitSet();

    private final BitSet lost = new BitSet();
    private final BitSet asked = new BitSet();

    KeptFrames(ElfFile elf, CodeSearch search, EhFrame frames) {
        this.elf = elf;
        this.search = search;
        this.frames = frames;
    }

    /// Whether the function of a range brings it back.
    boolean keeps(int range, LengthDecoder decoder) throws IOException {
        Set<Integer> reached = new HashSet<>(Set.of(range));
        Deque<Integer> next = new ArrayDeque<>(reached);
        while (!next.isEmpty()) {
            int at = next.remove();
            if (isKnownToKeep(at)) {
                continue;
            }
            long start = frames.start(at);
            byte[] code = isCode(start) ? elf.code(start, frames.length(at)) : new byte[0];
            if (lost.get(at) || search.mayChangeFrameRegister(code, decoder)) {
                lost.set(at);
                lost.set(range);
                return false;
            }
            for (Transfer transfer : search.transfers(code, start, decoder)) {
                boolean direct = transfer.kind() == Transfer.Kind.CALL || transfer.kind() == Transfer.Kind.JUMP;
                int target = direct ? frames.containing(transfer.target()) : -1;
                if (target >= 0 && reached.add(target)) {
                    next.add(target);
                }
            }
        }
        reached.forEach(kept::set);
        return true;
    }

    private boolean isKnownToKeep(int range) throws IOException {
        if (!asked.get(range)) {
            asked.set(range);
            kept.set(range, frames.saves(range, search.frameRegister()));
        }
        return kept.get(range);
    }

    private boolean isCode(long address) {
        for (Segment segment : elf.executableSegments()) {
            if (segment.holds(address)) {
                return true;
            }
        }
        return false;
    }
}
