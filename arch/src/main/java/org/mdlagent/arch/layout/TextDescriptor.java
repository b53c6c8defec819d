package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_text` (`mdl/api.h`), text that a copy may replace. The header documents each
/// field.
public final class TextDescriptor {
    public static final long START = 0;
    public static final long LENGTH = 8;
    public static final long ALIAS = 16;
    public static final long MARK = 24;

    public static final long SIZE = 32;

    private TextDescriptor() {}
}
