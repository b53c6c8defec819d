package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_slice_chunk` (`mdl/layout.h`), a part of a slice's functions. The header
/// documents each field.
public final class SliceChunkDescriptor {
    public static final long NEXT = 0;
    public static final long BYTES_AT = 8;

    public static final int BYTES = 4088;

    public static final long SIZE = BYTES_AT + BYTES;

    private SliceChunkDescriptor() {}
}
