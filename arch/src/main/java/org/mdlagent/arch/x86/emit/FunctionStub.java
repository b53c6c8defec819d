package org.mdlagent.arch.x86.emit;

import org.mdlagent.arch.layout.FrameDescriptor;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.Register;

/// The stub of a site at a function's first instruction: takes the return address into a frame, calls the body, and so
/// sees it return, in balance with the processor's return stack and a CET shadow stack (design: "Trampolines").
///
/// | offset | instructions | unwinding |
/// | --- | --- | --- |
/// | 0 | `mov %r11,-16(%rsp)`; `movabs $site,%r11` | as at the function's start |
/// | 15 | `call entry`: a frame in R11, or ZF | |
/// | 20 | `je 48` | |
/// | 22 | `pop RET(%r11)` | |
/// | 26 | `mov %rbx,RBX(%r11)`; `mov %r11,%rbx` | return address in the frame, at R11 |
/// | 33 | `mov -24(%rsp),%r11` | return address and RBX in the frame, at RBX |
/// | 38 | `call body` | |
/// | 43 | `jmp exit` | |
/// | 48 | `mov -16(%rsp),%r11`; `jmp body` | as at the function's start |
///
/// R11 is saved too: the caller of a local function may know that the function leaves it alone (GCC, `-fipa-ra`).
/// What is saved below the stack pointer is safe from signal handlers (System V ABI, 3.2.2: the red zone), and no
/// callee has run yet. A stub starts at a multiple of 64; the displacements of `entry` and `exit` are naturally
/// aligned, so one store changes either, whatever the atomic unit.
public final class FunctionStub {
    public static final int SIZE = 64;

    static final int CALL_ENTRY_AT = 15;
    static final int POPPED_AT = 26;
    static final int FRAMED_AT = 33;
    static final int RETURN_AT = 43;
    static final int PASS_AT = 48;
    public static final int ENTRY_DISPLACEMENT_AT = CALL_ENTRY_AT + 1;
    public static final int EXIT_DISPLACEMENT_AT = RETURN_AT + 1;

    /// Where the R11 of the application is, from the stack pointer, when what a stub leads to begins.
    static final int SAVED_R11 = -8;

    private static final int SITE_AT = 7;
    private static final int BODY_DISPLACEMENT_AT = 39;
    private static final int PASS_DISPLACEMENT_AT = 54;

    private static final int RET = (int) FrameDescriptor.RET;
    private static final int RBX = (int) FrameDescriptor.RBX;

    private static final byte[] TEMPLATE = template();

    private FunctionStub() {}

    /// @param site  address of the site's record
    /// @param at    where it will stand, a multiple of [#SIZE]
    /// @param body  where the function goes on behind the site
    /// @param entry of the recording code, for whole functions
    /// @param exit  of the recording code, for whole functions
    public static byte[] assemble(long site, long at, long body, long entry, long exit) {
        if (at % SIZE != 0) {
            throw new IllegalArgumentException("no place for a stub: 0x" + Long.toHexString(at));
        }
        byte[] stub = TEMPLATE.clone();
        Encoding.putLong(stub, SITE_AT, site);
        putDisplacement(stub, ENTRY_DISPLACEMENT_AT, at, entry);
        putDisplacement(stub, BODY_DISPLACEMENT_AT, at, body);
        putDisplacement(stub, EXIT_DISPLACEMENT_AT, at, exit);
        putDisplacement(stub, PASS_DISPLACEMENT_AT, at, body);
        return stub;
    }

    private static void putDisplacement(byte[] stub, int offset, long at, long target) {
        Encoding.putInt(stub, offset, Encoding.displacement(at + offset + Integer.BYTES, target));
    }

    /// A stub at 0, whose addresses are all 0. Stubs are made of it, since a program has many.
    private static byte[] template() {
        Assembler out = new Assembler(0);
        Assembler.Label pass = new Assembler.Label();
        out.store(Register.RSP, -16, Register.R11);
        out.mov(Register.R11, 0L);
        out.call(0);
        out.jumpShort(Condition.EQUAL, pass);
        out.pop(Register.R11, RET);
        out.store(Register.R11, RBX, Register.RBX);
        out.mov(Register.RBX, Register.R11);
        out.load(Register.R11, Register.RSP, -24);
        out.call(0);
        out.jump(0);
        out.bind(pass);
        out.load(Register.R11, Register.RSP, -16);
        out.jump(0);
        out.align(SIZE);
        return out.toBytes();
    }

    /// The stub of a site that calls it to be counted: every register is kept. What it leads to returns to the
    /// function, and brings back R11: another call and return would cost as much as the rest.
    ///
    /// A site that jumps comes in at [#COUNT_ENTRY_AT], where the stub calls itself and goes on in the body. When
    /// that begins, the stack is as the function's caller has left it.
    ///
    /// @param body where the function goes on behind a site that jumps; 0 where the site calls
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

    static final int COUNT_ENTRY_AT = ENTRY_DISPLACEMENT_AT + Integer.BYTES;
}
