package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_site` of `mdl/layout.h`, a patch site that one store toggles: bytes from its start.
/// What each field means, its unit and its writer stand there.
public final class SiteDescriptor {
    public static final long FUNCTION = 0;
    public static final long STORE = 8;
    public static final long ON = 16;
    public static final long OFF = 20;
    public static final long SIZE_AT = 24;
    public static final long KIND = 25;
    public static final long FLAGS = 26;
    public static final long RECORDING = 27;
    public static final long INDEX = 28;
    public static final long ADDRESS = 32;
    public static final long STUB = 40;
    public static final long IMAGE = 48;
    public static final long BODIES = 52;
    public static final long CLIENT = 56;
    public static final long SNIPPETS = 64;
    public static final long OWNER = 72;

    public static final long SIZE = 80;

    public static final short FLAG_VARIES = 1;
    public static final short FLAG_SNIPPETS = 2;

    private SiteDescriptor() {}
}
