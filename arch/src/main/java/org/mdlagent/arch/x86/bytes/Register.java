package org.mdlagent.arch.x86.bytes;

/// General-purpose registers, in the order of their numbers in encodings (AMD64 Architecture Programmer's Manual,
/// volume 3, section 1.4).
public enum Register {
    RAX,
    RCX,
    RDX,
    RBX,
    RSP,
    RBP,
    RSI,
    RDI,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15;

    int low() {
        return ordinal() & 7;
    }

    int high() {
        return ordinal() >> 3;
    }
}
