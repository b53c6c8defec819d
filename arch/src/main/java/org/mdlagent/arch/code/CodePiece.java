package org.mdlagent.arch.code;

/// Contiguous code of a function.
///
/// @param address of its first byte
public record CodePiece(long address, byte[] code) {
    /// One past its last byte.
    public long end() {
        return address + code.length;
    }

    public boolean holds(long at) {
        return at >= address && at < end();
    }
}
