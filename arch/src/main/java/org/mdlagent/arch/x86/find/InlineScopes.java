package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.Encoding;

/// Determines which inlined function each part of a function's code belongs to, by following branches from hook to
/// hook.
///
/// Code reached only by indirect branches, or by the unwinder, is assigned to the function of those branches. If
/// two paths meet and disagree, one came from a call that does not return: the one with fewer functions is right.
public final class InlineScopes {
    private final byte[] code;
    private final byte[] lengths;
    private final Map<Integer, SiteInstruction> hooks;
    private final @Nullable Scope[] scopes;
    private final boolean[] reached;
    private final Deque<Way> ways = new ArrayDeque<>();
    private @Nullable Scope ofIndirect;

    /// A function that has been entered but not left.
    private record Scope(SiteInstruction entry, @Nullable Scope outer, int depth) {
        static int depthOf(@Nullable Scope scope) {
            return scope == null ? 0 : scope.depth;
        }
    }

    private record Way(int at, @Nullable Scope scope) {}

    /// @param lengths of the instructions, where they begin
    /// @param hooks   by offset
    public InlineScopes(byte[] code, byte[] lengths, Map<Integer, SiteInstruction> hooks) {
        this.code = code;
        this.lengths = lengths;
        this.hooks = hooks;
        scopes = new Scope[code.length];
        reached = new boolean[code.length];
    }

    /// By start offset, the entry hook of the function that the code belongs to; null for code that is not
    /// inlined. An exit hook belongs to the code after it.
    public NavigableMap<Integer, @Nullable SiteInstruction> find() {
        follow(0, null, true);
        for (int at = 0; at < code.length; at++) {
            if (lengths[at] != 0 && !reached[at]) {
                follow(at, ofIndirect, false);
            }
        }
        NavigableMap<Integer, @Nullable SiteInstruction> found = new TreeMap<>();
        SiteInstruction last = null;
        for (int at = 0; at < code.length; at++) {
            Scope scope = scopes[at];
            SiteInstruction entry = scope == null ? null : scope.entry;
            if (reached[at] && !Objects.equals(entry, last)) {
                last = entry;
                found.put(at, last);
            }
        }
        return found;
    }

    /// @param again whether to revisit code that another path has reached with a different result
    private void follow(int from, @Nullable Scope first, boolean again) {
        ways.add(new Way(from, first));
        while (!ways.isEmpty()) {
            Way way = ways.remove();
            int at = way.at;
            Scope scope = way.scope;
            while (at >= 0 && isNew(at, scope, again)) {
                reached[at] = true;
                SiteInstruction hook = hooks.get(at);
                Scope behind = hook == null ? scope : behind(hook, scope);
                scopes[at] = hook != null && hook.role() == SiteInstruction.Role.EXIT ? behind : scope;
                scope = behind;
                at = next(at, scope, hook);
            }
        }
    }

    private boolean isNew(int at, @Nullable Scope scope, boolean again) {
        return at < code.length
                && lengths[at] != 0
                && (!reached[at] || again && Scope.depthOf(scope) < Scope.depthOf(scopes[at]));
    }

    private static @Nullable Scope behind(SiteInstruction hook, @Nullable Scope scope) {
        if (hook.role() == SiteInstruction.Role.ENTRY) {
            return new Scope(hook, scope, Scope.depthOf(scope) + 1);
        }
        for (Scope ended = scope; ended != null; ended = ended.outer) {
            long function = ended.entry.function();
            if (function == hook.function() || function == 0 || hook.function() == 0) {
                return ended.outer;
            }
        }
        return scope;
    }

    /// The next offset, or -1; remembers other targets.
    private int next(int at, @Nullable Scope scope, @Nullable SiteInstruction hook) {
        if (hook != null) {
            boolean jump =
                    hook.form() == SiteInstruction.Form.JUMP || hook.form() == SiteInstruction.Form.JUMP_INDIRECT;
            return jump ? -1 : at + hook.length();
        }
        int target = HookFinder.branchTarget(code, at, lengths[at]);
        if (target >= 0) {
            ways.add(new Way(target, scope));
        }
        int op = opcode(code, at, lengths[at]);
        return switch (u8(code, op)) {
            case 0xE9, 0xEB, 0xC2, 0xC3, 0xF4 -> -1;
            case 0x0F -> u8(code, op + 1) == 0x0B ? -1 : at + lengths[at];
            case 0xFF -> {
                int operation = u8(code, op + 1) >> 3 & 7;
                boolean jump = operation == 4 || operation == 5;
                ofIndirect = jump && ofIndirect == null ? scope : ofIndirect;
                yield jump ? -1 : at + lengths[at];
            }
            default -> at + lengths[at];
        };
    }

    /// Offset of the opcode, after prefixes that jumps and returns may have.
    static int opcode(byte[] code, int at, int length) {
        int op = at;
        while (op < at + length - 1 && isPrefix(u8(code, op))) {
            op++;
        }
        return op;
    }

    private static boolean isPrefix(int octet) {
        return octet == 0xF2
                || octet == 0xF3
                || octet == 0x3E
                || octet == Encoding.ADDRESS_SIZE_PREFIX
                || (octet & 0xF0) == 0x40;
    }
}
