package org.mdlagent.arch.site;

import org.mdlagent.arch.site.SiteInstruction.Form;

/// What the record of a site stands for: `enum mdl_site_kind` of `mdl/layout.h`, in its order.
public enum SiteKind {
    /// A function begins, at an instruction in its body.
    ENTRY(Body.ENTRY),
    /// A function ends, at an instruction in its body.
    EXIT(Body.EXIT),
    /// The same, at a jump to the exit hook.
    SIBLING_EXIT(Body.EXIT),
    /// A function begins, at its first instruction, whose stub calls the body.
    FUNCTION(Body.FUNCTION_ENTRY),
    /// That body returns. Its record is the one behind that of the function, and it has no code of its own.
    RETURN(Body.FUNCTION_EXIT),
    /// A call is counted.
    COUNT(Body.COUNT);

    private static final SiteKind[] BY_CODE = values();

    private final Body body;

    SiteKind(Body body) {
        this.body = body;
    }

    /// Of the record of an instruction, the first of its [#records].
    public static SiteKind of(SiteInstruction site) {
        boolean jump = site.form() == Form.JUMP || site.form() == Form.JUMP_INDIRECT;
        return switch (site.role()) {
            case ENTRY -> ENTRY;
            case EXIT -> jump ? SIBLING_EXIT : EXIT;
            case FUNCTION -> FUNCTION;
            case COUNT, COUNT_ALONE -> COUNT;
        };
    }

    /// @throws IllegalArgumentException when no kind has this code
    public static SiteKind of(byte code) {
        if (code < 0 || code >= BY_CODE.length) {
            throw new IllegalArgumentException("a site of kind " + code);
        }
        return BY_CODE[code];
    }

    /// What stands in the record.
    public byte code() {
        return (byte) ordinal();
    }

    /// What the site's stub leads to for it.
    public Body body() {
        return body;
    }

    /// Whether a function ends there; else one begins.
    public boolean isExit() {
        return body == Body.EXIT || body == Body.FUNCTION_EXIT;
    }

    /// Records that an instruction of this kind takes: that of a function has one for its return.
    public int records() {
        return this == FUNCTION ? 2 : 1;
    }

    /// Of the record `offset` behind the first of an instruction of this kind.
    public SiteKind ofRecord(int offset) {
        return offset == 0 ? this : RETURN;
    }
}
