package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_site` (`mdl/layout.h`), a patch site that one store toggles. The header
/// documents each field.
public final class SiteDescriptor {
    public static final long FUNCTION = 0;
    public static final long STORE = 8;
    public static final long ON = 16;
    public static final long OFF = 24;
    public static final long SIZE_AT = 32;
    public static final long KIND = 33;
    public static final long FLAGS = 34;
    public static final long RECORDING = 35;
    public static final long INDEX = 36;
    public static final long ADDRESS = 40;
    public static final long STUB = 48;
    public static final long IMAGE = 56;
    public static final long BODIES = 60;
    public static final long CLIENT = 64;
    public static final long SNIPPETS = 72;
    public static final long OWNER = 80;

    public static final long SIZE = 88;

    public static final short FLAG_VARIES = 1;
    public static final short FLAG_SNIPPETS = 2;
    public static final short FLAG_STEPS = 4;

    private SiteDescriptor() {}
}
