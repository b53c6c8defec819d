package org.mdlagent.arch.x86.patch;

import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;

/// A view of the instruction at a hook site that makes it toggle by one store ("Living on the Edge", PLDI 2016,
/// section 6, "callpatch").
///
/// With `k` the number of its bytes before the boundary of an atomic unit, a site toggles between
///
/// | form | split | on | off |
/// | --- | --- | --- | --- |
/// | call, 5 bytes | none, 4 | `E8 r0 r1 r2` | `0F 1F 44 00` |
/// | | 2, 3 | `E8 r0` | `EB 03` |
/// | | 1 | displacement to the stub | displacement to a `ret` |
/// | padded call, 6 bytes | none, 4, 5 | `67 E8 r0 r1` | `66 0F 1F 44` |
/// | | 2, 3 | `67 E8` | `EB 04` |
/// | | 1 | (67) `E8 r0 r1 r2` | (67) `0F 1F 44 00` |
/// | sibling jump | any | `E9` | `C3` |
///
/// The bytes after the toggled ones are the same in both states: in the long NOPs they are an unused SIB byte and
/// displacement, after a short jump they are skipped, after `ret` they are not reached. A call through the GOT is
/// first made a padded call. There the split after one byte has a step of its own: with only `FF` replaced by `67`
/// the instruction is `adc $imm32,%eax`, of the same length, which changes what the call of an external function
/// destroys anyway (EAX and flags), and nothing else.
public final class HookView {
    private static final int SHORT_JUMP = 0xEB;
    private static final int NOP = 0x00441F0F;
    private static final int PADDED_NOP = 0x441F0F66;

    private final SiteInstruction site;
    private final int length;

    /// @throws IllegalArgumentException if the bytes at the site's address are not of its form
    public HookView(SiteInstruction site) {
        this.site = site;
        int first = Memory.getByte(site.address()) & 0xFF;
        int second = Memory.getByte(site.address() + 1) & 0xFF;
        boolean right = switch (site.form()) {
            case CALL -> first == Encoding.CALL;
            case CALL_PADDED -> first == Encoding.ADDRESS_SIZE_PREFIX && second == Encoding.CALL;
            case CALL_INDIRECT -> first == 0xFF && second == 0x15;
            case JUMP -> first == Encoding.JUMP;
            case JUMP_INDIRECT -> first == 0xFF && second == 0x25;
            case NOP, NOP_RUN, NOP_SHORT, SKIP, INSTRUCTIONS -> false;
        };
        if (!right) {
            throw new IllegalArgumentException("no " + site.form() + " at 0x" + Long.toHexString(site.address())
                    + " but " + Integer.toHexString(first) + " " + Integer.toHexString(second));
        }
        length = site.length();
    }

    public PatchPlan plan(long stub, long returnStub, int atomicUnit) {
        long address = site.address();
        int before = atomicUnit - (int) (address & (atomicUnit - 1));
        int displacement = Encoding.displacement(address + length, stub);
        return switch (site.form()) {
            case CALL -> {
                if (before == 1) {
                    int nothing = Encoding.displacement(address + length, returnStub);
                    yield plan(address + 1, 4, displacement, nothing, address + 5, 0, 0);
                }
                yield before < 4
                        ? plan(
                                address,
                                2,
                                Encoding.CALL | (displacement & 0xFF) << 8,
                                SHORT_JUMP | 3 << 8,
                                address + 2,
                                displacement >> 8,
                                3)
                        : plan(address, 4, Encoding.CALL | displacement << 8, NOP, address + 4, displacement >> 24, 1);
            }
            case CALL_PADDED, CALL_INDIRECT -> {
                if (before == 1) {
                    yield planAcrossPrefix(address, displacement);
                }
                int head = Encoding.ADDRESS_SIZE_PREFIX | Encoding.CALL << 8;
                yield before < 4
                        ? plan(address, 2, head, SHORT_JUMP | 4 << 8, address + 2, displacement, 4)
                        : plan(address, 4, head | displacement << 16, PADDED_NOP, address + 4, displacement >> 16, 2);
            }
            case JUMP, JUMP_INDIRECT ->
                plan(address, 1, Encoding.JUMP, Encoding.RET, address + 1, Encoding.displacement(address + 5, stub), 4);
            case NOP, NOP_RUN, NOP_SHORT, SKIP, INSTRUCTIONS ->
                throw new IllegalArgumentException("no transfer: " + site.form());
        };
    }

    /// The off state neutralises.
    private PatchPlan plan(long toggleAt, int size, int on, int off, long tailAt, int tail, int tailLength) {
        return new PatchPlan(
                site.address(), length, toggleAt, size, off, tailAt, bytes(tail, tailLength), toggleAt, size, on, off);
    }

    private PatchPlan planAcrossPrefix(long address, int displacement) {
        int on = Encoding.CALL | displacement << 8;
        byte[] tail = bytes(displacement >> 24, 1);
        return site.form() == SiteInstruction.Form.CALL_PADDED
                ? new PatchPlan(address, length, address + 1, 4, NOP, address + 5, tail, address + 1, 4, on, NOP)
                : new PatchPlan(
                        address,
                        length,
                        address,
                        1,
                        Encoding.ADDRESS_SIZE_PREFIX,
                        address + 5,
                        tail,
                        address + 1,
                        4,
                        on,
                        NOP);
    }

    private static byte[] bytes(int value, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (value >> 8 * i);
        }
        return bytes;
    }
}
