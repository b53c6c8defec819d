package org.mdlagent.arch.x86.emit;

import org.mdlagent.arch.x86.bytes.Assembler;

/// The stub that the program calls instead of a library function, at any distance.
///
/// | offset | instruction |
/// | --- | --- |
/// | 0 | a NOP of five bytes: the site |
/// | 5 | `jmp *target(%rip)` |
/// | 16 | the target's address |
public final class ImportStub {
    public static final int SIZE = 32;
    public static final int SITE_LENGTH = 5;

    private ImportStub() {}

    public static byte[] assemble(long at, long target) {
        Assembler out = new Assembler(at);
        Assembler.Label word = new Assembler.Label();
        out.nop(SITE_LENGTH);
        out.jumpThrough(word);
        out.literal(word, target);
        out.align(SIZE);
        return out.toBytes();
    }
}
