package org.mdlagent.arch.x86.bytes;

/// Conditions of jumps, with their encoding (AMD64 Architecture Programmer's Manual, volume 3, appendix A, "rFLAGS
/// condition codes").
public enum Condition {
    BELOW(2),
    ABOVE_OR_EQUAL(3),
    EQUAL(4),
    NOT_EQUAL(5),
    BELOW_OR_EQUAL(6),
    ABOVE(7),
    NEGATIVE(8),
    LESS(12),
    GREATER_OR_EQUAL(13),
    LESS_OR_EQUAL(14),
    GREATER(15);

    final int code;

    Condition(int code) {
        this.code = code;
    }
}
