package org.mdlagent.arch.x86.bytes;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.mdlagent.arch.layout.InstructionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.NativeBuffer;
import org.mdlagent.arch.shim.Scratch;

/// Decodes with the shim's decoder, Zydis. Thread-safe.
public final class NativeInstructionDecoder implements InstructionDecoder {
    private static final int ENOSYS = 38;

    /// The word that holds the byte-sized fields.
    private static final long FIELDS = InstructionDescriptor.LENGTH;

    private final NativeApi shim;

    public NativeInstructionDecoder(NativeApi shim) {
        this.shim = shim;
    }

    @Override
    public Instruction decode(byte[] code, int offset, long address) {
        int readable = Math.clamp(code.length - offset, 0, LENGTH_MAX);
        long scratch = Scratch.address();
        Memory.put(scratch + InstructionDescriptor.SIZE, code, offset, readable);
        return decode(scratch + InstructionDescriptor.SIZE, readable, scratch, address + offset);
    }

    @Override
    public List<Instruction> decodeAll(byte[] code, long address) {
        if (InstructionDescriptor.SIZE + code.length <= Scratch.BYTES) {
            long scratch = Scratch.address();
            Memory.put(scratch + InstructionDescriptor.SIZE, code);
            return decodeAll(scratch, code.length, address);
        }
        try (NativeBuffer scratch = NativeBuffer.of(InstructionDescriptor.SIZE + code.length)) {
            Memory.put(scratch.address() + InstructionDescriptor.SIZE, code);
            return decodeAll(scratch.address(), code.length, address);
        }
    }

    /// @param scratch buffer for a decoded instruction, followed by a copy of the code
    private List<Instruction> decodeAll(long scratch, int length, long address) {
        List<Instruction> all = new ArrayList<>();
        for (int at = 0; at < length; at += all.getLast().length()) {
            all.add(decode(
                    scratch + InstructionDescriptor.SIZE + at,
                    Math.min(LENGTH_MAX, length - at),
                    scratch,
                    address + at));
        }
        return all;
    }

    private Instruction decode(long bytes, int readable, long out, long address) {
        long result = shim.instruction(bytes, readable, out);
        if (result == -ENOSYS) {
            throw new IllegalStateException("no instruction decoder: see the session's log");
        }
        if (result < 0) {
            throw new IllegalArgumentException("no instruction at 0x" + Long.toHexString(address) + ": "
                    + HexFormat.of().formatHex(Memory.copy(bytes, readable)));
        }
        long fields = Memory.getLong(out + FIELDS);
        int relativeSize = field(fields, InstructionDescriptor.RELATIVE_SIZE);
        // The copy is at another address, so correct relative targets.
        long target = Memory.getLong(out + InstructionDescriptor.TARGET) + (address - bytes);
        return new Instruction(
                field(fields, InstructionDescriptor.LENGTH),
                kind(field(fields, InstructionDescriptor.KIND)),
                relativeSize == 0 ? 0 : target,
                field(fields, InstructionDescriptor.RELATIVE_AT),
                relativeSize,
                field(fields, InstructionDescriptor.OPCODE),
                field(fields, InstructionDescriptor.FALLS_THROUGH) != 0);
    }

    private static Instruction.Kind kind(int code) {
        return switch (code) {
            case InstructionDescriptor.KIND_PLAIN -> Instruction.Kind.PLAIN;
            case InstructionDescriptor.KIND_RIP_RELATIVE -> Instruction.Kind.RIP_RELATIVE;
            case InstructionDescriptor.KIND_CALL -> Instruction.Kind.CALL;
            case InstructionDescriptor.KIND_JUMP -> Instruction.Kind.JUMP;
            case InstructionDescriptor.KIND_CONDITIONAL_JUMP -> Instruction.Kind.CONDITIONAL_JUMP;
            case InstructionDescriptor.KIND_COUNTED_JUMP -> Instruction.Kind.COUNTED_JUMP;
            case InstructionDescriptor.KIND_TRANSACTION -> Instruction.Kind.TRANSACTION;
            case InstructionDescriptor.KIND_INDIRECT_CALL -> Instruction.Kind.INDIRECT_CALL;
            case InstructionDescriptor.KIND_BOUND -> Instruction.Kind.BOUND;
            default -> throw new IllegalStateException("an instruction of kind " + code);
        };
    }

    private static int field(long fields, long at) {
        return (int) (fields >>> (at - FIELDS) * Byte.SIZE) & 0xFF;
    }
}
