package org.mdlagent.runtime.mdl;

import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;

/// A constraint's uses of `$constraint[n]`, which determine the resources that it can select.
final class Selection {
    private static final int MODULE = 1;
    private static final int PROCEDURE = 2;

    private final Definition.Constraint constraint;
    private final Diagnostics diagnostics;

    /// Depth of the deepest resource used, 0 if none is.
    private int depth;

    /// Depth of `$constraint[0]`, 0 if none is used.
    private int span;

    Selection(Definition.Constraint constraint, Diagnostics diagnostics) {
        this.constraint = constraint;
        this.diagnostics = diagnostics;
    }

    boolean ofCode() {
        return constraint.path().getFirst().text().equals(Hierarchies.CODE);
    }

    /// Number of available components.
    int components() {
        return ofCode() ? PROCEDURE : constraint.path().size();
    }

    /// Notes that an attribute of `$constraint[index]` is used.
    void use(long index, String attribute, int at) {
        int used = switch (attribute) {
            case "entry", "return", "calls", "tid" -> PROCEDURE;
            case "funcs" -> MODULE;
            default -> 0;
        };
        if (used == 0) {
            return;
        }
        int spanned = used + (int) index;
        if (spanned > PROCEDURE || span != 0 && span != spanned) {
            diagnostics.error(
                    at,
                    "$constraint[" + index + "] cannot be a " + (used == PROCEDURE ? "procedure" : "module") + " here",
                    "[0] is the selected resource, [1] the module of a selected procedure");
            return;
        }
        span = spanned;
        depth = Math.max(depth, used);
    }

    Constraint resolved() {
        int length = constraint.path().size();
        return span == 0 ? new Constraint(constraint, length, length) : new Constraint(constraint, depth, span);
    }
}
