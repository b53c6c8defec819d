package org.mdlagent.arch.site;

import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.site.SiteInstruction.Form;

/// The kind of a site's record: `enum mdl_site_kind` of `mdl/layout.h`.
public enum SiteKind {
    /// Entry of a function, at an instruction in its body.
    ENTRY(SiteDescriptor.KIND_ENTRY, Body.ENTRY),
    /// Exit of a function, at an instruction in its body.
    EXIT(SiteDescriptor.KIND_EXIT, Body.EXIT),
    /// The same, at a jump to the exit hook.
    SIBLING_EXIT(SiteDescriptor.KIND_SIBLING_EXIT, Body.EXIT),
    /// Entry of a function at its first instruction, whose stub calls the body.
    FUNCTION(SiteDescriptor.KIND_WHOLE, Body.FUNCTION_ENTRY),
    /// Return of that body. Its record follows the function's, and it has no code of its own.
    RETURN(SiteDescriptor.KIND_RETURN, Body.FUNCTION_EXIT),
    /// A call is counted.
    COUNT(SiteDescriptor.KIND_COUNT, Body.COUNT);

    private final byte code;
    private final Body body;

    SiteKind(int code, Body body) {
        this.code = (byte) code;
        this.body = body;
    }

    /// The kind of the first of an instruction's [#records].
    public static SiteKind of(SiteInstruction site) {
        boolean jump = site.form() == Form.JUMP || site.form() == Form.JUMP_INDIRECT;
        return switch (site.role()) {
            case ENTRY -> ENTRY;
            case EXIT -> jump ? SIBLING_EXIT : EXIT;
            case FUNCTION -> FUNCTION;
            case COUNT, COUNT_ALONE -> COUNT;
        };
    }

    /// @throws IllegalArgumentException if no kind has this code
    public static SiteKind of(byte code) {
        return switch (code) {
            case SiteDescriptor.KIND_ENTRY -> ENTRY;
            case SiteDescriptor.KIND_EXIT -> EXIT;
            case SiteDescriptor.KIND_SIBLING_EXIT -> SIBLING_EXIT;
            case SiteDescriptor.KIND_WHOLE -> FUNCTION;
            case SiteDescriptor.KIND_RETURN -> RETURN;
            case SiteDescriptor.KIND_COUNT -> COUNT;
            default -> throw new IllegalArgumentException("a site of kind " + code);
        };
    }

    /// The code in the record.
    public byte code() {
        return code;
    }

    /// The body that the site's stub leads to.
    public Body body() {
        return body;
    }

    /// Whether a function ends there; otherwise one begins.
    public boolean isExit() {
        return body == Body.EXIT || body == Body.FUNCTION_EXIT;
    }

    /// Number of records of an instruction of this kind: whole functions have a second one, for the return.
    public int records() {
        return this == FUNCTION ? 2 : 1;
    }

    /// The kind of the record `offset` after the first of an instruction of this kind.
    public SiteKind ofRecord(int offset) {
        return offset == 0 ? this : RETURN;
    }
}
