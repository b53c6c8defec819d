package org.mdlagent.arch.x86.bytes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Emits the few x86-64 encodings that the agent needs, into an array, never into live code.
///
/// Operands are in Intel order, destination first; memory operands are `[base + displacement]` or `[base + index *
/// 8 + displacement]`. Encodings follow the AMD64 Architecture Programmer's Manual, volume 3; a test compares each
/// with GNU `as`.
public final class Assembler {
    private static final int REX = 0x40;
    private static final int REX_W = 0x48;

    private byte[] bytes = new byte[128];
    private int size;
    private final long origin;
    private final List<Fixup> fixups = new ArrayList<>();

    /// A jump target that may be used before it is bound.
    public static final class Label {
        private int offset = -1;
    }

    /// @param size of the displacement in bytes, 1 or 4
    private record Fixup(int at, int size, Label label) {}

    /// @param origin address of the first byte
    public Assembler(long origin) {
        this.origin = origin;
    }

    /// The code so far, all labels resolved.
    ///
    /// @throws IllegalStateException if a used label was not bound
    public byte[] toBytes() {
        for (Fixup fixup : fixups) {
            if (fixup.label.offset < 0) {
                throw new IllegalStateException("unbound label");
            }
            put(fixup.at, fixup.size, fixup.label.offset - (fixup.at + fixup.size));
        }
        return Arrays.copyOf(bytes, size);
    }

    public int offset() {
        return size;
    }

    public void bind(Label label) {
        label.offset = size;
    }

    /// Pads with INT3 to the next multiple of `alignment`.
    public void align(int alignment) {
        while ((origin + size) % alignment != 0) {
            emit(0xCC);
        }
    }

    // Moves.

    public void mov(Register to, Register from) {
        emit(REX_W | from.high() << 2 | to.high(), 0x89, 0xC0 | from.low() << 3 | to.low());
    }

    public void mov(Register to, long immediate) {
        emit(REX_W | to.high(), 0xB8 | to.low());
        emitLong(immediate);
    }

    /// Sets the whole register by the 32-bit form.
    public void movInt(Register to, int immediate) {
        if (to.high() != 0) {
            emit(REX | to.high());
        }
        emit(0xB8 | to.low());
        emitInt(immediate);
    }

    public void load(Register to, Register base, int displacement) {
        memory(REX_W, 0x8B, to.ordinal(), base, displacement);
    }

    public void loadInt(Register to, Register base, int displacement) {
        memory(0, 0x8B, to.ordinal(), base, displacement);
    }

    /// Sets the whole register, by the shortest form.
    public void set(Register to, long number) {
        if (number == (number & Integer.MAX_VALUE)) {
            movInt(to, (int) number);
        } else if (number == (int) number) {
            emit(REX_W | to.high(), 0xC7, 0xC0 | to.low());
            emitInt((int) number);
        } else {
            mov(to, number);
        }
    }

    /// Loads 1, 2, 4 or 8 bytes, zero-extended or sign-extended.
    public void load(Register to, Register base, int displacement, int bytes, boolean signed) {
        switch (bytes) {
            case 1 -> memory(REX_W, signed ? 0x0FBE : 0x0FB6, to.ordinal(), base, displacement);
            case 2 -> memory(REX_W, signed ? 0x0FBF : 0x0FB7, to.ordinal(), base, displacement);
            case 4 -> memory(signed ? REX_W : 0, signed ? 0x63 : 0x8B, to.ordinal(), base, displacement);
            default -> load(to, base, displacement);
        }
    }

    public void loadIndexed(Register to, Register base, Register index, int displacement) {
        indexed(REX_W, 0x8B, to.ordinal(), base, index, displacement);
    }

    /// Loads the word at `offset` from the thread pointer.
    public void loadThreadWord(Register to, int offset) {
        emit(0x64, REX_W | to.high() << 2, 0x8B, to.low() << 3 | 4, 0x25);
        emitInt(offset);
    }

    public void store(Register base, int displacement, Register from) {
        memory(REX_W, 0x89, from.ordinal(), base, displacement);
    }

    /// The same, always with a 32-bit displacement.
    public void storeWide(Register base, int displacement, Register from) {
        wide(0x89, from, base, displacement);
    }

    public void storeInt(Register base, int displacement, Register from) {
        memory(0, 0x89, from.ordinal(), base, displacement);
    }

    public void store(Register base, int displacement, int immediate) {
        memory(REX_W, 0xC7, 0, base, displacement);
        emitInt(immediate);
    }

    public void storeInt(Register base, int displacement, int immediate) {
        memory(0, 0xC7, 0, base, displacement);
        emitInt(immediate);
    }

    public void storeByte(Register base, int displacement, int immediate) {
        memory(0, 0xC6, 0, base, displacement);
        emit(immediate);
    }

    /// Pushes the word at `[base + displacement]`.
    public void push(Register base, int displacement) {
        memory(0, 0xFF, 6, base, displacement);
    }

    /// Pops into the word at `[base + displacement]`.
    public void pop(Register base, int displacement) {
        memory(0, 0x8F, 0, base, displacement);
    }

    public void lea(Register to, Register base, int displacement) {
        memory(REX_W, 0x8D, to.ordinal(), base, displacement);
    }

    /// Loads the address of a label.
    public void lea(Register to, Label label) {
        emit(REX_W | to.high() << 2, 0x8D, to.low() << 3 | 5);
        fixup(label);
    }

    public void leaIndexed(Register to, Register base, Register index) {
        indexed(REX_W, 0x8D, to.ordinal(), base, index, 0);
    }

    /// As [#lea], always with a 32-bit displacement.
    public void leaWide(Register to, Register base, int displacement) {
        wide(0x8D, to, base, displacement);
    }

    private void wide(int opcode, Register register, Register base, int displacement) {
        emit(REX_W | register.high() << 2 | base.high(), opcode, 0x80 | register.low() << 3 | base.low());
        if (base.low() == 4) {
            emit(0x24);
        }
        emitInt(displacement);
    }

    // Arithmetic.

    public void add(Register to, Register from) {
        emit(REX_W | from.high() << 2 | to.high(), 0x01, 0xC0 | from.low() << 3 | to.low());
    }

    public void sub(Register to, Register from) {
        emit(REX_W | from.high() << 2 | to.high(), 0x29, 0xC0 | from.low() << 3 | to.low());
    }

    public void and(Register to, Register from) {
        emit(REX_W | from.high() << 2 | to.high(), 0x21, 0xC0 | from.low() << 3 | to.low());
    }

    public void or(Register to, Register from) {
        emit(REX_W | from.high() << 2 | to.high(), 0x09, 0xC0 | from.low() << 3 | to.low());
    }

    public void sub(Register to, int immediate) {
        immediate(5, to, immediate);
    }

    public void and(Register to, int immediate) {
        immediate(4, to, immediate);
    }

    public void or(Register to, int immediate) {
        immediate(1, to, immediate);
    }

    public void sub(Register to, Register base, int displacement) {
        memory(REX_W, 0x2B, to.ordinal(), base, displacement);
    }

    public void and(Register to, Register base, int displacement) {
        memory(REX_W, 0x23, to.ordinal(), base, displacement);
    }

    public void add(Register to, Register base, int displacement) {
        memory(REX_W, 0x03, to.ordinal(), base, displacement);
    }

    public void add(Register to, int immediate) {
        immediate(0, to, immediate);
    }

    public void addTo(Register base, int displacement, int immediate) {
        immediate(0, base, displacement, immediate);
    }

    public void addTo(Register base, int displacement, Register from) {
        memory(REX_W, 0x01, from.ordinal(), base, displacement);
    }

    public void increment(Register base, int displacement) {
        memory(REX_W, 0xFF, 0, base, displacement);
    }

    public void decrement(Register base, int displacement) {
        memory(REX_W, 0xFF, 1, base, displacement);
    }

    public void multiply(Register to, Register from) {
        emit(REX_W | to.high() << 2 | from.high(), 0x0F, 0xAF, 0xC0 | to.low() << 3 | from.low());
    }

    public void multiply(Register to, Register base, int displacement) {
        memory(REX_W, 0x0FAF, to.ordinal(), base, displacement);
    }

    public void multiplyBy(Register to, Register from, int immediate) {
        boolean narrow = immediate == (byte) immediate;
        emit(REX_W | to.high() << 2 | from.high(), narrow ? 0x6B : 0x69, 0xC0 | to.low() << 3 | from.low());
        number(narrow, immediate);
    }

    public void negate(Register register) {
        emit(REX_W | register.high(), 0xF7, 0xD8 | register.low());
    }

    /// Divides RAX by `divisor`: quotient in RAX, remainder in RDX. Traps if the divisor is 0, or the quotient
    /// overflows.
    public void divide(Register divisor) {
        emit(REX_W, 0x99); // cqo
        emit(REX_W | divisor.high(), 0xF7, 0xF8 | divisor.low());
    }

    public void incrementIndexed(Register base, Register index) {
        indexed(REX_W, 0xFF, 0, base, index, 0);
    }

    /// Of 32 bits.
    public void decrementIntIndexed(Register base, Register index) {
        indexed(0, 0xFF, 1, base, index, 0);
    }

    /// Of 32 bits.
    public void cmpIntIndexed(Register base, Register index, int displacement, int immediate) {
        indexed(0, 0x83, 7, base, index, displacement);
        emit(immediate);
    }

    public void incrementInt(Register register) {
        emit(REX | register.high(), 0xFF, 0xC0 | register.low());
    }

    public void decrementInt(Register base, int displacement) {
        memory(0, 0xFF, 1, base, displacement);
    }

    public void lockIncrementInt(Register base, int displacement) {
        emit(0xF0);
        memory(0, 0xFF, 0, base, displacement);
    }

    public void lockDecrementInt(Register base, int displacement) {
        emit(0xF0);
        memory(0, 0xFF, 1, base, displacement);
    }

    public void shiftLeft(Register register, int bits) {
        emit(REX_W | register.high(), 0xC1, 0xE0 | register.low(), bits);
    }

    public void shiftRight(Register register, int bits) {
        emit(REX_W | register.high(), 0xC1, 0xE8 | register.low(), bits);
    }

    /// Keeps the sign.
    public void shiftRightSigned(Register register, int bits) {
        emit(REX_W | register.high(), 0xC1, 0xF8 | register.low(), bits);
    }

    public void shiftRightByCl(Register register) {
        emit(REX_W | register.high(), 0xD3, 0xE8 | register.low());
    }

    public void bitScanReverse(Register to, Register from) {
        emit(REX_W | to.high() << 2 | from.high(), 0x0F, 0xBD, 0xC0 | to.low() << 3 | from.low());
    }

    public void bitScanForward(Register to, Register from) {
        emit(REX_W | to.high() << 2 | from.high(), 0x0F, 0xBC, 0xC0 | to.low() << 3 | from.low());
    }

    /// Sets the carry flag to a bit of the word at `[base + displacement]`.
    public void bitTest(Register base, int displacement, int bit) {
        memory(REX_W, 0x0FBA, 4, base, displacement);
        emit(bit);
    }

    public void bitSet(Register base, int displacement, int bit) {
        memory(REX_W, 0x0FBA, 5, base, displacement);
        emit(bit);
    }

    public void bitReset(Register base, int displacement, int bit) {
        memory(REX_W, 0x0FBA, 6, base, displacement);
        emit(bit);
    }

    /// Stores `from` and sets the zero flag if the word in memory equals RAX, otherwise loads the word into RAX.
    public void compareExchange(Register base, int displacement, Register from) {
        memory(REX_W, 0x0FB1, from.ordinal(), base, displacement);
    }

    /// Time-stamp counter into EDX:EAX.
    void rdtsc() {
        emit(0x0F, 0x31);
    }

    /// Waits for all earlier loads before later instructions start (`lfence`).
    public void waitForLoads() {
        emit(0x0F, 0xAE, 0xE8);
    }

    /// Time-stamp counter into RAX; changes RDX and the flags.
    public void readTsc() {
        rdtsc();
        shiftLeft(Register.RDX, 32);
        or(Register.RAX, Register.RDX);
    }

    /// Changes RCX and R11; the result is in RAX.
    public void systemCall() {
        emit(0x0F, 0x05);
    }

    // Comparisons and transfers.

    /// Tests the low byte of the word at `[base + index * 8]`.
    public void testLowByteIndexed(Register base, Register index, int mask) {
        indexed(0, 0xF6, 0, base, index, 0);
        emit(mask);
    }

    public void test(Register register) {
        emit(REX_W | register.high() << 2 | register.high(), 0x85, 0xC0 | register.low() << 3 | register.low());
    }

    public void cmp(Register left, Register right) {
        emit(REX_W | right.high() << 2 | left.high(), 0x39, 0xC0 | right.low() << 3 | left.low());
    }

    public void cmp(Register left, Register base, int displacement) {
        memory(REX_W, 0x3B, left.ordinal(), base, displacement);
    }

    public void cmp(Register left, int immediate) {
        immediate(7, left, immediate);
    }

    public void cmp(Register base, int displacement, int immediate) {
        immediate(7, base, displacement, immediate);
    }

    public void cmpInt(Register base, int displacement, int immediate) {
        memory(0, 0x83, 7, base, displacement);
        emit(immediate);
    }

    public void cmpInt(Register left, Register base, int displacement) {
        memory(0, 0x3B, left.ordinal(), base, displacement);
    }

    public void addInt(Register to, Register base, int displacement) {
        memory(0, 0x03, to.ordinal(), base, displacement);
    }

    /// Tests the bits of `register` in the word of 32 bits at `[base + displacement]`.
    public void testInt(Register base, int displacement, Register register) {
        memory(0, 0x85, register.ordinal(), base, displacement);
    }

    /// Compares the byte at `[base + displacement]`.
    public void cmpByte(Register base, int displacement, int immediate) {
        memory(0, 0x80, 7, base, displacement);
        emit(immediate);
    }

    /// Tests the byte at `[base + displacement]`.
    public void testByte(Register base, int displacement, int mask) {
        memory(0, 0xF6, 0, base, displacement);
        emit(mask);
    }

    public void jump(Label label) {
        emit(0xE9);
        fixup(label);
    }

    /// @throws IllegalStateException by [#toBytes] if the label is more than 127 bytes away
    public void jumpShort(Condition condition, Label label) {
        emit(0x70 | condition.code);
        fixups.add(new Fixup(size, 1, label));
        emit(0);
    }

    public void jump(Condition condition, Label label) {
        emit(0x0F, 0x80 | condition.code);
        fixup(label);
    }

    /// A jump through the word at `literal`.
    public void jumpThrough(Label literal) {
        emit(0xFF, 0x25);
        fixup(literal);
    }

    /// A jump through the word at `[base + displacement]`.
    public void jumpThrough(Register base, int displacement) {
        memory(0, 0xFF, 4, base, displacement);
    }

    /// A word of data, at the next multiple of 8.
    public void literal(Label label, long value) {
        align(Long.BYTES);
        bind(label);
        emitLong(value);
    }

    /// @throws IllegalArgumentException if `target` is out of reach
    public void call(long target) {
        emit(0xE8);
        emitInt(Encoding.displacement(origin + size + 4, target));
    }

    public void jump(Register register) {
        if (register.high() != 0) {
            emit(REX | register.high());
        }
        emit(0xFF, 0xE0 | register.low());
    }

    /// @throws IllegalArgumentException if `target` is out of reach
    public void jump(long target) {
        emit(0xE9);
        emitInt(Encoding.displacement(origin + size + 4, target));
    }

    /// Pops a word off the thread's shadow stack, if it has one, without checking it (Intel SDM vol. 1, 17.2:
    /// otherwise RDSSP is a NOP). Changes `scratch` and the flags.
    public void dropFromShadowStack(Register scratch) {
        Label none = new Label();
        movInt(scratch, 0);
        emit(0xF3, REX_W | scratch.high(), 0x0F, 0x1E, 0xC8 | scratch.low());
        test(scratch);
        jump(Condition.EQUAL, none);
        movInt(scratch, 1);
        emit(0xF3, REX_W | scratch.high(), 0x0F, 0xAE, 0xE8 | scratch.low());
        bind(none);
    }

    /// Sets the carry flag, and preserves the others.
    public void setCarry() {
        emit(0xF9);
    }

    public void ret() {
        emit(0xC3);
    }

    /// A single NOP of at most four bytes; nothing if `length` is 0.
    public void nop(int length) {
        for (int i = 1; i < length; i++) {
            emit(0x66);
        }
        if (length > 0) {
            emit(0x90);
        }
    }

    private void fixup(Label label) {
        fixups.add(new Fixup(size, Integer.BYTES, label));
        emitInt(0);
    }

    private void immediate(int operation, Register to, int immediate) {
        if (immediate == (byte) immediate) {
            emit(REX_W | to.high(), 0x83, 0xC0 | operation << 3 | to.low(), immediate);
        } else if (to == Register.RAX) {
            emit(REX_W, operation << 3 | 5);
            emitInt(immediate);
        } else {
            emit(REX_W | to.high(), 0x81, 0xC0 | operation << 3 | to.low());
            emitInt(immediate);
        }
    }

    private void immediate(int operation, Register base, int displacement, int immediate) {
        boolean narrow = immediate == (byte) immediate;
        memory(REX_W, narrow ? 0x83 : 0x81, operation, base, displacement);
        number(narrow, immediate);
    }

    private void memory(int rex, int opcode, int field, Register base, int displacement) {
        prefixAndOpcode(rex | field >> 3 << 2 | base.high(), opcode);
        boolean narrow = displacement == (byte) displacement;
        boolean none = displacement == 0 && base.low() != 5;
        emit((none ? 0 : narrow ? 0x40 : 0x80) | (field & 7) << 3 | base.low());
        if (base.low() == 4) {
            emit(0x24);
        }
        if (!none) {
            number(narrow, displacement);
        }
    }

    private void indexed(int rex, int opcode, int field, Register base, Register index, int displacement) {
        prefixAndOpcode(rex | field >> 3 << 2 | index.high() << 1 | base.high(), opcode);
        boolean narrow = displacement == (byte) displacement;
        boolean none = displacement == 0 && base.low() != 5;
        emit((none ? 0 : narrow ? 0x40 : 0x80) | (field & 7) << 3 | 4, 0xC0 | index.low() << 3 | base.low());
        if (!none) {
            number(narrow, displacement);
        }
    }

    private void number(boolean narrow, int number) {
        if (narrow) {
            emit(number);
        } else {
            emitInt(number);
        }
    }

    private void prefixAndOpcode(int rex, int opcode) {
        if (rex != 0) {
            emit(REX | rex);
        }
        if (opcode > 0xFF) {
            emit(opcode >> 8);
        }
        emit(opcode);
    }

    private void emit(int... values) {
        if (size + values.length > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        for (int value : values) {
            bytes[size++] = (byte) value;
        }
    }

    private void emitInt(int value) {
        emit(value, value >> 8, value >> 16, value >> 24);
    }

    private void emitLong(long value) {
        emitInt((int) value);
        emitInt((int) (value >> 32));
    }

    private void put(int at, int length, int value) {
        if (length == 1 && value != (byte) value) {
            throw new IllegalStateException("a short jump over " + value + " bytes");
        }
        for (int i = 0; i < length; i++) {
            bytes[at + i] = (byte) (value >> 8 * i);
        }
    }
}
