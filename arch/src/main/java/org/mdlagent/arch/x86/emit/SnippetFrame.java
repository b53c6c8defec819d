package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.R8;
import static org.mdlagent.arch.x86.bytes.Register.R9;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RDI;
import static org.mdlagent.arch.x86.bytes.Register.RDX;
import static org.mdlagent.arch.x86.bytes.Register.RSI;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.ForSelected;
import org.mdlagent.arch.x86.bytes.Register;

/// Register and scratch memory conventions of a site's snippets.
///
/// On entry: R11 the thread's values. Every other register is restored, except registers that are free at hook
/// calls; flags are always free. The stack pointer does not move, so the caller's unwind rules apply. Layout of
/// the red zone below it:
///
/// | offset | |
/// | --- | --- |
/// | -24 to -1 | the calling code ([ClientAssembler]) |
/// | -80 to -25 | saved registers |
/// | -96 to -81 | the kernel's time |
/// | -104 to -97 | remaining members of a set |
/// | -112 to -105 | R10, while it points to the values of a member or an instance |
/// | -128 to -113 | common subexpressions |
///
/// Code that reads memory by address keeps R11 and R10 in the places of members and R10, and the system call's
/// arguments in those of the time and of common subexpressions. Code that calls a function keeps the arguments in
/// all of these; the shim does the rest (`calls.S`).
final class SnippetFrame {
    /// The register stack of expressions.
    static final List<Register> STACK = List.of(RCX, RSI, R8, R9, RDI);

    private static final Set<Register> ALL = EnumSet.of(RAX, RCX, RDX, RSI, RDI, R8, R9);

    private static final Set<Register> FREE_AT_HOOKS = EnumSet.of(RCX, RDX, R8, R9);

    /// Their second argument: the call site of the function.
    static final Register CALLER_AT_HOOKS = RSI;

    private static final int SAVED = -32;

    static final int TIME = -96;

    static final int MEMBERS = -104;

    static final int SAVED_R10 = -112;

    private static final int COMMON = -120;

    static final int SAVED_R11 = MEMBERS;

    /// Two `struct iovec`: destination and source.
    static final int TO = TIME;

    static final int FROM = -128;

    static final int ARGUMENTS_OF_CALL = -128;

    private final SnippetPlace place;

    /// Restored registers, in the order of their places.
    private final List<Register> saved;

    /// Registers that the code changes.
    private final Set<Register> used = EnumSet.noneOf(Register.class);

    /// Whether it reads [#CALLER_AT_HOOKS].
    private boolean readsCaller;

    /// The own values of the current member or instance, if code runs for several.
    private @Nullable Own own;

    /// `stride` values from `first` on. R10 points to where values would begin whose first has the number `shift`.
    private record Own(int first, int stride, int shift) {
        boolean contains(int value) {
            return value >= first && value < first + stride;
        }
    }

    /// @param saved registers that are restored, if the calling code needs them
    SnippetFrame(SnippetPlace place, Set<Register> saved) {
        this.place = place;
        this.saved = List.copyOf(saved);
    }

    /// Registers to restore after code emitted with this frame.
    ///
    /// @param onDemand only registers that the code changes
    Set<Register> toSave(boolean onDemand) {
        Set<Register> needed = EnumSet.copyOf(ALL);
        if (onDemand) {
            needed.retainAll(used);
        }
        needed.removeAll(free());
        return needed;
    }

    /// Registers that the calling code does not need restored.
    private Set<Register> free() {
        if (place.body() != Body.ENTRY && place.body() != Body.EXIT) {
            return Set.of();
        }
        Set<Register> free = EnumSet.copyOf(FREE_AT_HOOKS);
        if (place.body() == Body.ENTRY && !readsCaller) { // at an exit the recording code reads it
            free.add(CALLER_AT_HOOKS);
        }
        return free;
    }

    SnippetPlace place() {
        return place;
    }

    List<Register> saved() {
        return saved;
    }

    /// The register at `depth` of the expression stack.
    Register register(int depth) {
        require(depth < STACK.size(), "an expression needs more than " + STACK.size() + " registers");
        return change(STACK.get(depth));
    }

    /// Notes that the code changes a register.
    Register change(Register register) {
        used.add(register);
        return register;
    }

    /// Offset of a saved register from the stack pointer.
    int savedAt(Register register) {
        return SAVED - saved.indexOf(register) * Long.BYTES;
    }

    /// Notes that the code reads [#CALLER_AT_HOOKS].
    void readCaller() {
        readsCaller = true;
    }

    /// Code emitted from now on runs for each member.
    void begin(ForEach each) {
        own = new Own(
                each.first(), each.stride(), each.stride() * each.written().bit());
    }

    /// Code emitted from now on runs for the selected instance.
    void begin(ForSelected one) {
        own = new Own(one.first(), one.stride(), 0);
    }

    void end() {
        own = null;
    }

    /// Whether R10 points to values.
    boolean hasOwn() {
        return own != null;
    }

    /// Offset of a set, which is the same for all members.
    static int ofSet(int set) {
        return set * Long.BYTES;
    }

    /// Base register of a value's [#offset].
    Register base(int value) {
        return own != null && own.contains(value) ? R10 : R11;
    }

    int offset(int value) {
        return offset(value, 0);
    }

    /// @param word of the value, if it has several
    int offset(int value, int word) {
        int index = own != null && own.contains(value) ? value - own.shift : value;
        return (index + word) * Long.BYTES;
    }

    static int common(int slot) {
        return COMMON - slot * Long.BYTES;
    }

    static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
