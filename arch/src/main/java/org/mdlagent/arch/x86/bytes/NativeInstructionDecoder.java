package org.mdlagent.arch.x86.bytes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.mdlagent.arch.layout.InstructionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Decodes by the shim's decoder, which is Zydis. Any thread may use it.
public final class NativeInstructionDecoder implements InstructionDecoder {
    private static final int ENOSYS = 38;
    private static final Instruction.Kind[] KINDS = Instruction.Kind.values();

    private final NativeApi shim;

    public NativeInstructionDecoder(NativeApi shim) {
        this.shim = shim;
    }

    @Override
    public Instruction decode(byte[] code, int offset, long address) {
        int readable = Math.min(LENGTH_MAX, code.length - offset);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment scratch = arena.allocate(InstructionDescriptor.SIZE + LENGTH_MAX, Long.BYTES);
            long out = scratch.address();
            long bytes = out + InstructionDescriptor.SIZE;
            MemorySegment.copy(
                    code, offset, scratch, ValueLayout.JAVA_BYTE, InstructionDescriptor.SIZE, Math.max(0, readable));
            long result = shim.instruction(bytes, readable, out);
            if (result == -ENOSYS) {
                throw new IllegalStateException("no instruction decoder: the session's log says why");
            }
            if (result < 0) {
                throw new IllegalArgumentException("no instruction at 0x" + Long.toHexString(address + offset) + ": "
                        + HexFormat.of().formatHex(code, offset, offset + Math.max(0, readable)));
            }
            int relativeSize = Memory.getByte(out + InstructionDescriptor.RELATIVE_SIZE);
            // What it is relative to stands elsewhere.
            long target = Memory.getLong(out + InstructionDescriptor.TARGET) + (address + offset - bytes);
            return new Instruction(
                    Memory.getByte(out + InstructionDescriptor.LENGTH),
                    KINDS[Memory.getByte(out + InstructionDescriptor.KIND)],
                    relativeSize == 0 ? 0 : target,
                    Memory.getByte(out + InstructionDescriptor.RELATIVE_AT),
                    relativeSize,
                    Memory.getByte(out + InstructionDescriptor.OPCODE) & 0xFF,
                    Memory.getByte(out + InstructionDescriptor.FALLS_THROUGH) != 0);
        }
    }
}
