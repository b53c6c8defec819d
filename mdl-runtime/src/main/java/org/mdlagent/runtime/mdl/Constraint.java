package org.mdlagent.runtime.mdl;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Name;

/// A constraint whose names and types are right.
///
/// The paper writes `/Code` for a constraint of procedures, Paradyn `/Code/*`, and `/Code` for one of modules. So in
/// `/Code` what counts is how `$constraint[n]` is used, not how long the path is.
///
/// @param depth of the resources that it serves: `/Code/module` has 1, `/Code/module/function` 2
/// @param span  depth of what `$constraint[0]` is
public record Constraint(Definition.Constraint definition, int depth, int span) {
    public String name() {
        return definition.name().text();
    }

    /// Whether it has no code: reading only some threads or processes is enough.
    public boolean isDefault() {
        return definition.isDefault();
    }

    /// Whether its statements take the place of the metric's base.
    public boolean replaces() {
        return definition.replaces();
    }

    /// Whether it tells objects apart by code, which the program makes and uses while it runs: `/SyncObject`, `/File`.
    public boolean ofObjects() {
        return Hierarchies.OF_OBJECTS.contains(definition.path().getFirst().text()) && !isDefault() && !replaces();
    }

    /// Whether one value can stand for the flags of all objects.
    public boolean isVector() {
        return ofObjects() && VectorForm.fits(definition);
    }

    /// Whether numbers that stand for objects are indices themselves, and need not be hashed.
    public boolean isDirect() {
        return definition.index() == Definition.Index.DIRECT;
    }

    /// Whether a resource can be selected by it.
    ///
    /// @param resource the components of its path, as in `Code`, `module`, `function`
    public boolean serves(List<String> resource) {
        List<Name> path = definition.path();
        int names = path.size();
        while (names > 1 && path.get(names - 1).text().equals("*")) {
            names--;
        }
        if (resource.size() < names) {
            return false;
        }
        for (int i = 0; i < names; i++) {
            String name = path.get(i).text();
            if (!name.equals("*") && !name.equals(resource.get(i))) {
                return false;
            }
        }
        int selected = resource.size() - 1;
        boolean starred = names < path.size() && !resource.getFirst().equals(Hierarchies.CODE);
        return isDefault() || selected == depth || starred && selected == depth - 1;
    }
}
