package org.mdlagent.arch.site;

/// Finds instruction boundaries; [NativeApi#decode] is one.
@FunctionalInterface
public interface LengthDecoder {
    /// Decodes `length` bytes at `code`: the byte at `lengths + i` becomes the length of the instruction that starts
    /// at `i`, 0 inside one.
    ///
    /// @return the number of bytes decoded before the first invalid instruction
    long decode(long code, long length, long lengths);
}
