package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_thread` (`mdl/layout.h`), the block of one application thread. The header
/// documents each field.
public final class ThreadDescriptor {
    public static final long SP = 0;
    public static final long SP_LIMIT = 8;
    public static final long SP_BASE = 16;
    public static final long ROWS = 24;
    public static final long RING = 32;
    public static final long RING_MASK = 40;
    public static final long HEAD = 48;
    public static final long DROPPED = 56;
    public static final long UNMATCHED = 64;
    public static final long OVERFLOW = 72;
    public static final long REFUSED = 80;
    public static final long CALLS = 88;
    public static final long STACK_LOW = 96;
    public static final long TAKEN = 104;
    public static final long COUNTS = 112;
    public static final long SKIPPED = 120;
    public static final long TAIL = 128;
    public static final long TID = 136;
    public static final long PID = 140;
    public static final long STATE = 144;
    public static final long IN_CALL = 148;
    public static final long NEXT = 152;
    public static final long CPU_NANOS = 160;
    public static final long VALUES = 168;
    public static final long COUNTDOWNS = 176;
    public static final long CHANCE = 184;
    public static final long OWNER = 192;
    public static final long PROCESS = 232;
    public static final long CREDITED = 240;
    public static final long SHARED = 248;
    public static final long IN_CLIENT = 252;
    public static final long PAID = 256;
    public static final long FIRST = 264;
    public static final long BORN = 272;
    public static final long STACK_ROOM = 280;
    public static final long APART = 288;

    public static final long BLOCK_COUNTS = 296;

    public static final long SIZE = 304;

    public static final int STATE_FREE = 0;
    public static final int STATE_LIVE = 1;

    private ThreadDescriptor() {}
}
