package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_countdown` of `mdl/layout.h`, how a thread chooses which calls of a function it times: bytes
/// from its start. What each field means, its unit and its writer stand there.
public final class CountdownDescriptor {
    public static final long LEFT = 0;
    public static final long WEIGHT = 4;

    public static final long SIZE = 8;

    private CountdownDescriptor() {}
}
