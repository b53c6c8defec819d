package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_slice_chunk` of `mdl/layout.h`, a part of a slice's functions: bytes from its start. What
/// each field means, its unit and its writer stand there.
public final class SliceChunkDescriptor {
    public static final long NEXT = 0;
    public static final long BYTES_AT = 8;

    public static final int BYTES = 4088;

    public static final long SIZE = BYTES_AT + BYTES;

    private SliceChunkDescriptor() {}
}
