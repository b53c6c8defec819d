package org.mdlagent.stress.torture;

import java.io.IOException;
import java.util.HexFormat;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Targets of a process's sites: functions that return their identity. The two that a call alternates between are
/// so far apart that their displacements differ in three bytes.
///
/// @param original   returns [#ORIGINAL]
/// @param stub       returns [#STUB]; where callpatch leads to
/// @param other      returns [#OTHER]
/// @param slot       holds the address of `original`: a GOT slot
record Targets(long original, long stub, long other, long slot) {
    static final int ORIGINAL = 0x22;
    static final int STUB = 0x11;
    static final int OTHER = 0x33;

    private static final long SIZE = 2 << 20;
    private static final HexFormat HEX = HexFormat.of();

    static Targets make(NativeApi api, CodeMemory code) throws IOException {
        long base = code.allocateNear(api.session(), api.session(), SIZE);
        Targets targets = new Targets(base + 0x100, base + 0x180, base + SIZE - 0xE10, base + 0x280);
        write(code, targets.original, identity(ORIGINAL));
        write(code, targets.stub, identity(STUB));
        write(code, targets.other, identity(OTHER));
        Memory.putLong(code.alias(targets.slot), targets.original);
        return targets;
    }

    /// Not yet executed.
    static void write(CodeMemory code, long address, byte[] bytes) {
        Memory.put(code.alias(address), bytes);
    }

    // mov $value,%ecx; mov %ecx,%eax; ret
    private static byte[] identity(int value) {
        return HEX.parseHex("b9" + HEX.toHexDigits((byte) value) + "000000" + "89c8" + "c3");
    }
}
