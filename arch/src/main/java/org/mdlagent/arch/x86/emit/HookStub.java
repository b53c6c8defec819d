package org.mdlagent.arch.x86.emit;

import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.Register;

/// A view of a hook site's stub, and its construction.
///
/// | offset | instructions |
/// | --- | --- |
/// | 0 | frame key into RAX: `lea d(%rsp),%rax`, `lea d(%rbp),%rax` or `mov $8,%eax`; one NOP that fills up |
/// | 9 | `49 BA i64`: site record into R10 |
/// | 19 | `E9 d32`: on in the body |
///
/// A stub starts at a multiple of 8, so the displacement at its end is naturally aligned: one store changes the
/// stub's target, whatever the atomic unit.
public final class HookStub {
    public static final int SIZE = 24;

    private static final int RECORD_AT = 9;
    private static final int JUMP_AT = 19;
    public static final int DISPLACEMENT_AT = JUMP_AT + 1;
    private static final int MOV_R10 = 0xBA49;

    private static final int DWARF_RBP = 6;
    private static final int DWARF_RSP = 7;

    /// The key of frames with an unknown canonical frame address: not a stack address.
    private static final int KEYLESS = 8;

    private final long address;

    /// @throws IllegalArgumentException if there is no stub at `address`
    public HookStub(long address) {
        byte[] code = Memory.copy(address, SIZE);
        int mov = Encoding.u8(code, RECORD_AT) | Encoding.u8(code, RECORD_AT + 1) << 8;
        if (address % Long.BYTES != 0 || mov != MOV_R10 || Encoding.u8(code, JUMP_AT) != Encoding.JUMP) {
            throw new IllegalArgumentException("no hook stub at 0x" + Long.toHexString(address));
        }
        this.address = address;
    }

    /// The store that makes it continue in `body`.
    ///
    /// @throws IllegalArgumentException if `body` is out of reach
    public CodeStore retarget(long body) {
        int displacement = Encoding.displacement(address + SIZE, body);
        return new CodeStore(address + DISPLACEMENT_AT, displacement, Integer.BYTES);
    }

    /// @param at its future address, a multiple of 8
    public static byte[] assemble(SiteInstruction site, FrameKey key, long record, long at, long body) {
        if (at % Long.BYTES != 0) {
            throw new IllegalArgumentException("no place for a stub: 0x" + Long.toHexString(at));
        }
        Assembler out = new Assembler(at);
        boolean jump = site.form() == SiteInstruction.Form.JUMP || site.form() == SiteInstruction.Form.JUMP_INDIRECT;
        switch (key.register()) {
            // A call has pushed its return address.
            case DWARF_RSP -> out.leaWide(Register.RAX, Register.RSP, Math.toIntExact(key.offset() + (jump ? 0 : 8)));
            case DWARF_RBP -> out.leaWide(Register.RAX, Register.RBP, Math.toIntExact(key.offset()));
            default -> out.movInt(Register.RAX, KEYLESS);
        }
        out.nop(RECORD_AT - out.offset());
        out.mov(Register.R10, record);
        out.jump(body);
        return out.toBytes();
    }
}
