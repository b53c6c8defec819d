package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.CodeSearch.HookScan;
import org.mdlagent.arch.site.CodeSearch.HookTargets;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Finds calls and jumps to hooks: first by displacement, byte by byte, then by decoding the code ranges with
/// candidates.
///
/// The hook's first argument, the function, is the value that the last instruction before the transfer loads into
/// RDI, if no direct branch leads in between. A register copied to RDI counts if it was loaded just before, or if
/// the range loads only one address into it. The result decides which sites are switched together; at run time
/// each call is checked against the actual first argument.
public final class HookFinder {
    /// Instructions searched before a transfer for the one that sets the first argument.
    private static final int LOOK_BACK = 24;

    /// Instructions searched before a copy for the one that loads the copied register.
    private static final int COPY_LOOK_BACK = 3;

    private static final int RDI = 7;

    private final byte[] code;
    private final long address;
    private final HookTargets targets;
    private final LengthDecoder decoder;
    private final long lengths;
    private final List<SiteInstruction> sites = new ArrayList<>();
    private int unproved;
    private int unpatchable;

    /// A decoded code range; offsets are relative to its start.
    private final class Range {
        final int start;
        final byte[] boundaries;
        private @Nullable BitSet branchTargets;
        private final long[] constants = new long[16];
        private final boolean[] constantKnown = new boolean[16];

        Range(int start, int length) {
            this.start = start;
            // Skip data: decoding it would misalign the following instructions.
            int data = Math.min(length, EntryReader.typeData(code, start));
            long unused = decoder.decode(address + start + data, length - data, lengths);
            boundaries = new byte[length];
            System.arraycopy(Memory.copy(lengths, length - data), 0, boundaries, data, length - data);
        }

        int previous(int at) {
            int previous = at - 1;
            while (previous >= 0 && boundaries[previous] == 0) {
                previous--;
            }
            return previous;
        }

        /// Whether a direct branch of the range leads to `[from, to]`.
        boolean branchesInto(int from, int to) {
            BitSet found = branchTargets;
            if (found == null) {
                found = new BitSet(boundaries.length);
                for (int i = 0; i < boundaries.length; i++) {
                    int target = boundaries[i] == 0 ? -1 : branchTarget(code, start + i, boundaries[i]) - start;
                    if (target >= 0 && target < boundaries.length) {
                        found.set(target);
                    }
                }
                branchTargets = found;
            }
            int next = found.nextSetBit(from);
            return next >= 0 && next <= to;
        }

        /// The one constant that the range loads into `register`, or 0.
        long onlyConstant(int register) {
            if (!constantKnown[register]) {
                constantKnown[register] = true;
                constants[register] = findOnlyConstant(register);
            }
            return constants[register];
        }

        private long findOnlyConstant(int register) {
            long only = 0;
            for (int i = 0; i < boundaries.length; i++) {
                long constant =
                        boundaries[i] < 5 || boundaries[i] > 7 ? 0 : constant(register, start + i, boundaries[i]);
                if (constant != 0 && constant != only) {
                    if (only != 0) {
                        return 0;
                    }
                    only = constant;
                }
            }
            return only;
        }
    }

    /// @param lengths address of `code.length` zeroed bytes
    public HookFinder(byte[] code, long address, HookTargets targets, LengthDecoder decoder, long lengths) {
        this.code = code;
        this.address = address;
        this.targets = targets;
        this.decoder = decoder;
        this.lengths = lengths;
    }

    public HookScan find(CodeRanges ranges) {
        int next = 0;
        Range range = null;
        for (int at = 0; at + 5 <= code.length; at++) {
            SiteInstruction.Form form = candidate(at);
            if (form == null) {
                continue;
            }
            while (next < ranges.size() && ranges.start(next) + ranges.length(next) <= address + at) {
                next++;
            }
            if (next == ranges.size() || ranges.start(next) > address + at || ranges.start(next) < address) {
                unproved++;
                continue;
            }
            int start = (int) (ranges.start(next) - address);
            if (range == null || range.start != start) {
                range = new Range(start, (int) Math.min(ranges.length(next), code.length - start));
            }
            add(form, at - start, range);
        }
        return new HookScan(sites, unproved, unpatchable);
    }

    private SiteInstruction.@Nullable Form candidate(int at) {
        switch (u8(code, at)) {
            case Encoding.CALL -> {
                return direct(at + 1) == 0 ? null : SiteInstruction.Form.CALL;
            }
            case Encoding.JUMP -> {
                return direct(at + 1) == 0 ? null : SiteInstruction.Form.JUMP;
            }
            case 0x0F -> {
                if (at + 6 <= code.length && (u8(code, at + 1) & 0xF0) == 0x80 && direct(at + 2) != 0) {
                    unpatchable++;
                }
                return null;
            }
            case 0xFF -> {
                int second = u8(code, at + 1);
                if (second != 0x15 && second != 0x25
                        || at + 6 > code.length
                        || indirect(at + 2) == 0
                        || isLinkageStub(address + at)) {
                    return null;
                }
                return second == 0x15 ? SiteInstruction.Form.CALL_INDIRECT : SiteInstruction.Form.JUMP_INDIRECT;
            }
            default -> {
                return null;
            }
        }
    }

    /// Whether the jump at `jump` is that of a linkage stub, preceded by at most `endbr64` and `bnd`.
    private boolean isLinkageStub(long jump) {
        for (long stub : targets.entries()) {
            if (jump >= stub && jump <= stub + 5) {
                return true;
            }
        }
        for (long stub : targets.exits()) {
            if (jump >= stub && jump <= stub + 5) {
                return true;
            }
        }
        return false;
    }

    /// 1 if the displacement at `at` leads to the entry hook, -1 for the exit hook, else 0.
    private int direct(int at) {
        return hook(address + at + 4 + i32(code, at), targets.entries(), targets.exits());
    }

    private int indirect(int at) {
        return hook(address + at + 4 + i32(code, at), targets.entrySlots(), targets.exitSlots());
    }

    private static int hook(long target, long[] entries, long[] exits) {
        for (long entry : entries) {
            if (entry == target) {
                return 1;
            }
        }
        for (long exit : exits) {
            if (exit == target) {
                return -1;
            }
        }
        return 0;
    }

    private void add(SiteInstruction.Form form, int at, Range range) {
        boolean indirect = form == SiteInstruction.Form.CALL_INDIRECT || form == SiteInstruction.Form.JUMP_INDIRECT;
        int length = indirect ? 6 : 5;
        int first = at;
        SiteInstruction.Form found = form;
        if (form == SiteInstruction.Form.CALL
                && at > 0
                && range.boundaries[at] == 0
                && range.boundaries[at - 1] == 6
                && u8(code, range.start + at - 1) == Encoding.ADDRESS_SIZE_PREFIX) {
            found = SiteInstruction.Form.CALL_PADDED;
            first = at - 1;
        } else if (range.boundaries[at] != length) {
            unproved++;
            return;
        }
        int operand = range.start + at + (indirect ? 2 : 1);
        boolean exit = (indirect ? indirect(operand) : direct(operand)) < 0;
        boolean jump = form == SiteInstruction.Form.JUMP || form == SiteInstruction.Form.JUMP_INDIRECT;
        if (jump && !exit) {
            // No function ends with its entry hook: this is a linkage stub or hand-written code.
            unpatchable++;
            return;
        }
        sites.add(new SiteInstruction(
                address + range.start + first,
                found,
                exit ? SiteInstruction.Role.EXIT : SiteInstruction.Role.ENTRY,
                function(first, range)));
    }

    /// The address in RDI at the instruction at `at`, or 0.
    private long function(int at, Range range) {
        int setter = range.previous(at);
        for (int i = 0; i < LOOK_BACK && setter >= 0; i++, setter = range.previous(setter)) {
            int where = range.start + setter;
            if (endsBlock(where)) {
                return 0;
            }
            if (!setsRdi(where)) {
                continue;
            }
            if (range.branchesInto(setter + 1, at)) {
                return 0;
            }
            int copied = copiedToRdi(where);
            return copied >= 0 ? copiedConstant(copied, setter, range) : constant(RDI, where, range.boundaries[setter]);
        }
        return 0;
    }

    /// The constant in `register` at `at`: loaded just before, as unoptimised code does, else the only one of the
    /// range.
    private long copiedConstant(int register, int at, Range range) {
        int setter = range.previous(at);
        for (int i = 0; i < COPY_LOOK_BACK && setter >= 0; i++, setter = range.previous(setter)) {
            if (endsBlock(range.start + setter)) {
                break;
            }
            long constant = constant(register, range.start + setter, range.boundaries[setter]);
            if (constant != 0 && !range.branchesInto(setter + 1, at)) {
                return constant;
            }
        }
        return range.onlyConstant(register);
    }

    private boolean endsBlock(int at) {
        int op = u8(code, at);
        return op == 0xE8
                || op == 0xE9
                || op == 0xEB
                || op == 0xC3
                || (op & 0xF0) == 0x70
                || op == 0x0F && (u8(code, at + 1) & 0xF0) == 0x80
                || op == 0xFF && u8(code, at + 1) >= 0x10 && u8(code, at + 1) != 0x35;
    }

    /// Whether compilers use the instruction to load the first argument.
    private boolean setsRdi(int at) {
        if (u8(code, at) == 0xBF) {
            return true;
        }
        int rex = u8(code, at);
        if (rex != 0x48 && rex != 0x4C) {
            return false;
        }
        int op = u8(code, at + 1);
        int modrm = u8(code, at + 2);
        return switch (op) {
            case 0x8D, 0x8B -> rex == 0x48 && (modrm >> 3 & 7) == RDI;
            case 0x89 -> (modrm & 0xC7) == (0xC0 | RDI);
            case 0xC7 -> rex == 0x48 && modrm == (0xC0 | RDI);
            case 0xBF -> rex == 0x48;
            default -> false;
        };
    }

    /// The register whose value the instruction copies to RDI, or -1.
    private int copiedToRdi(int at) {
        int rex = u8(code, at);
        if ((rex == 0x48 || rex == 0x4C) && u8(code, at + 1) == 0x89) {
            return (u8(code, at + 2) >> 3 & 7) + (rex == 0x4C ? 8 : 0);
        }
        // mov %reg,%rdi may also be encoded the other way round.
        if ((rex == 0x48 || rex == 0x49) && u8(code, at + 1) == 0x8B && u8(code, at + 2) >= 0xC0) {
            return (u8(code, at + 2) & 7) + (rex == 0x49 ? 8 : 0);
        }
        return -1;
    }

    /// The constant that the instruction loads into `register`, or 0.
    private long constant(int register, int at, int length) {
        int low = register & 7;
        int high = register >> 3;
        int first = u8(code, at);
        if (high == 0 && first == (0xB8 | low) && length == 5) {
            return i32(code, at + 1) & 0xFFFFFFFFL;
        }
        if (high == 1 && first == 0x41 && u8(code, at + 1) == (0xB8 | low) && length == 6) {
            return i32(code, at + 2) & 0xFFFFFFFFL;
        }
        if (first == (0x48 | high << 2) && length == 7 && u8(code, at + 2) == (low << 3 | 5)) {
            long operand = address + at + 7 + i32(code, at + 3);
            return switch (u8(code, at + 1)) {
                case 0x8D -> operand;
                case 0x8B -> Memory.getLong(operand); // a GOT slot
                default -> 0;
            };
        }
        if (first == (0x48 | high) && length == 7 && u8(code, at + 1) == 0xC7 && u8(code, at + 2) == (0xC0 | low)) {
            return i32(code, at + 3);
        }
        return 0;
    }

    /// Offset in `code` of the target of the branch at `at`, or -1 if it is not a branch.
    static int branchTarget(byte[] code, int at, int length) {
        int op = u8(code, at);
        if ((op & 0xF0) == 0x70 || op == 0xEB || op >= 0xE0 && op <= 0xE3) {
            return length == 2 ? at + 2 + code[at + 1] : -1;
        }
        if (op == 0xE9 && length == 5) {
            return at + 5 + i32(code, at + 1);
        }
        if (op == 0x0F && (u8(code, at + 1) & 0xF0) == 0x80) {
            return at + 6 + i32(code, at + 2);
        }
        return -1;
    }
}
