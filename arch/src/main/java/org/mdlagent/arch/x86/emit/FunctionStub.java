package org.mdlagent.arch.x86.emit;

import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.Register;

/// The stub of a site at a function's first instruction: a plain wrapper around the function's body. It stores the
/// words of the call ([CallDescriptor]) below the return address and calls the body, so it sees the return and
/// keeps the processor's return stack and a CET shadow stack balanced (design: "Trampolines").
///
/// | offset | instructions | canonical frame address |
/// | --- | --- | --- |
/// | 0 | `mov %r11,-40(%rsp)`, or `jmp counter` | RSP + 8 |
/// | 8 | `sub $24,%rsp` | |
/// | 12 | `movabs $site,%r11` | RSP + 32 |
/// | 23 | `call entry`: a carry, ZF, or neither; R11 is back, but for the carry | |
/// | 28 | `jc 53`; `je 44` | |
/// | 34 | `call body` | |
/// | 39 | `jmp exit` | |
/// | 44 | `add $24,%rsp`: the return is not recorded | |
/// | 48 | `jmp body` | RSP + 8 |
/// | 53 | `add $32,%rsp`: the caller has ended by jumping here | RSP + 32 |
/// | 57 | `jmp siblingExit` | of the caller's words |
///
/// While only the number of calls is needed, one store makes the first instruction a jump to the *counter*
/// ([#assembleCounter]), which needs no call, registers or words.
///
/// R11 is saved too, because the caller of a local function may rely on it (GCC, `-fipa-ra`). Values saved below
/// the stack pointer are safe from signal handlers (System V ABI, 3.2.2: the red zone), and no callee has run yet.
/// A stub starts at a multiple of 64; the displacements of `entry` and `exit` are naturally aligned, so one store
/// changes either, whatever the atomic unit.
public final class FunctionStub {
    public static final int SIZE = 64;

    /// After the first instruction, which may be a jump to the counter.
    static final int BEHIND_HEAD = 8;

    static final int WORDS_AT = 12;
    static final int CALL_ENTRY_AT = 23;
    static final int CALL_BODY_AT = 34;

    /// Return addresses of the stub's calls.
    static final int RETURN_AT = 39;

    static final int PASS_AT = 44;
    static final int PASSED_AT = 48;
    static final int SIBLING_AT = 53;
    static final int SITE_AT = 14;
    static final int END = 62;
    public static final int ENTRY_DISPLACEMENT_AT = CALL_ENTRY_AT + 1;
    public static final int EXIT_DISPLACEMENT_AT = RETURN_AT + 1;

    /// Offset of the application's R11 from the stack pointer at the start of the called code.
    static final int SAVED_R11 = -8;

    /// The same at the start of `siblingExit`: the stub has dropped a return address and the words, so five more.
    static final int SIBLING_R11 = SAVED_R11 - 5 * Long.BYTES;

    /// Offset of the redirectable part of a counting stub.
    private static final int COUNT_CALL_AT = 15;

    private static final int WORDS = (int) CallDescriptor.SIZE;

    /// Compilers never emit the bytes from here on: a four-byte displacement where one byte is enough, in a store
    /// below a stack pointer that is then lowered. So an address preceded by them is a stub's (`calls.c`, A2).
    private static final int MARK_AT = 6;

    private static final long MARK = 0xBB49_18EC_8348_FFFFL;

    /// Offset of the saved R11 at the function's first instruction.
    private static final int HEAD_R11 = -40;

    private static final byte[] TEMPLATE = template();

    private FunctionStub() {}

    /// Emits a jump to `sibling` if the call was reached by a sibling call: its return address is in a stub. Not
    /// if a client or snippets wait for the first call's return, whose words then stay. Changes both registers and
    /// the flags.
    ///
    /// @param returnAddressAt from the stack pointer
    static void findSibling(Assembler out, int returnAddressAt, Register a, Register b, Assembler.Label sibling) {
        Assembler.Label other = new Assembler.Label();
        out.load(a, Register.RSP, returnAddressAt);
        out.mov(b, a);
        out.and(b, SIZE - 1);
        out.cmp(b, RETURN_AT);
        out.jump(Condition.NOT_EQUAL, other);
        out.mov(b, MARK);
        out.cmp(b, a, MARK_AT - RETURN_AT);
        out.jump(Condition.NOT_EQUAL, other);
        out.load(a, a, SITE_AT - RETURN_AT);
        out.testByte(a, (int) (SiteDescriptor.SIZE + SiteDescriptor.FLAGS), SiteDescriptor.FLAG_SNIPPETS);
        out.jump(Condition.NOT_EQUAL, other);
        out.cmp(a, (int) (SiteDescriptor.SIZE + SiteDescriptor.CLIENT), 0);
        out.jump(Condition.EQUAL, sibling);
        out.bind(other);
    }

    /// @param site  address of the site's record
    /// @param at    its future address, a multiple of [#SIZE]
    /// @param body  continuation of the function after the site
    /// @param entry of the recording code, for whole functions
    /// @param exit  of the recording code, for whole functions
    /// @param siblingExit of the recording code
    public static byte[] assemble(long site, long at, long body, long entry, long exit, long siblingExit) {
        if (at % SIZE != 0) {
            throw new IllegalArgumentException("no place for a stub: 0x" + Long.toHexString(at));
        }
        byte[] stub = TEMPLATE.clone();
        Encoding.putLong(stub, SITE_AT, site);
        putDisplacement(stub, ENTRY_DISPLACEMENT_AT, at, entry);
        putDisplacement(stub, CALL_BODY_AT + 1, at, body);
        putDisplacement(stub, EXIT_DISPLACEMENT_AT, at, exit);
        putDisplacement(stub, PASSED_AT + 1, at, body);
        putDisplacement(stub, END - Integer.BYTES, at, siblingExit);
        return stub;
    }

    private static void putDisplacement(byte[] stub, int offset, long at, long target) {
        Encoding.putInt(stub, offset, Encoding.displacement(at + offset + Integer.BYTES, target));
    }

    /// Template: a stub at 0 whose addresses are all 0. Stubs are copied from it, because a program has many.
    private static byte[] template() {
        Assembler out = new Assembler(0);
        Assembler.Label pass = new Assembler.Label();
        Assembler.Label sibling = new Assembler.Label();
        out.storeWide(Register.RSP, HEAD_R11, Register.R11);
        out.sub(Register.RSP, WORDS);
        out.mov(Register.R11, 0L);
        out.nop(CALL_ENTRY_AT - out.offset());
        out.call(0);
        out.jumpShort(Condition.BELOW, sibling);
        out.jumpShort(Condition.EQUAL, pass);
        out.nop(CALL_BODY_AT - out.offset());
        out.call(0);
        out.jump(0);
        out.bind(pass);
        out.add(Register.RSP, WORDS);
        out.jump(0);
        out.bind(sibling);
        out.add(Register.RSP, WORDS + Long.BYTES);
        out.jump(0);
        out.align(SIZE);
        return out.toBytes();
    }

    /// The eight bytes, for one aligned store, that replace a stub's first instruction while the stub leads to its
    /// counter.
    ///
    /// @param distance from the stub to its counter
    public static long counterHead(int distance) {
        long displacement = Integer.toUnsignedLong(distance - Integer.BYTES - 1);
        return (long) HEAD_R11 >> Byte.SIZE << Long.SIZE - 3 * Byte.SIZE | displacement << Byte.SIZE | Encoding.JUMP;
    }

    /// Counts a call and continues in the body. For calls at which the thread must check the clock, or has no
    /// counter yet, it continues in the stub, which does everything. Otherwise equivalent to [WholeCallAssembler]
    /// for untimed calls.
    ///
    /// @param stub      its stub's address
    /// @param body      continuation of the function after the site
    /// @param index     of the function
    /// @param tlsOffset of the thread's block
    public static byte[] assembleCounter(long at, long stub, long body, int index, int tlsOffset) {
        int slot = Math.multiplyExact(index, Long.BYTES);
        Assembler out = new Assembler(at);
        Assembler.Label slow = new Assembler.Label();
        out.store(Register.RSP, HEAD_R11, Register.R11);
        out.loadThreadWord(Register.R11, tlsOffset);
        out.test(Register.R11);
        out.jumpShort(Condition.EQUAL, slow);
        out.load(Register.R11, Register.R11, (int) ThreadDescriptor.CALLS);
        out.test(Register.R11);
        out.jumpShort(Condition.EQUAL, slow);
        out.testByte(Register.R11, slot, RecordingAssembler.DEADLINE_CHECK_CALLS - 1);
        out.jumpShort(Condition.EQUAL, slow);
        out.increment(Register.R11, slot);
        out.load(Register.R11, Register.RSP, HEAD_R11);
        out.jump(body);
        out.bind(slow);
        out.jump(stub + BEHIND_HEAD);
        out.align(COUNTER_SIZE);
        return out.toBytes();
    }

    public static final int COUNTER_SIZE = 64;

    /// The stub of a counting site that calls it; preserves every register. The called code returns directly to
    /// the function and restores R11, because another call and return would double the cost.
    ///
    /// A site that jumps enters at [#COUNT_ENTRY_AT], where the stub calls itself and then continues in the body,
    /// with the stack as at the function's entry.
    ///
    /// @param body continuation of the function after a site that jumps; 0 if the site calls
    public static byte[] assembleCount(long site, long at, long count, long body) {
        Assembler out = new Assembler(at);
        out.store(Register.RSP, SAVED_R11, Register.R11);
        out.mov(Register.R11, site);
        out.jump(count);
        if (body != 0) {
            out.call(at);
            out.jump(body);
        }
        out.align(COUNT_SIZE);
        return out.toBytes();
    }

    public static final int COUNT_SIZE = 32;

    static final int COUNT_ENTRY_AT = COUNT_CALL_AT + 1 + Integer.BYTES;

    static final int COUNT_DISPLACEMENT_AT = COUNT_CALL_AT + 1;
}
