package org.mdlagent.runtime.mdl;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Name;

/// A checked constraint.
///
/// The paper writes `/Code` for a constraint of procedures; Paradyn writes `/Code/*` for procedures and `/Code`
/// for modules. So in `/Code` the use of `$constraint[n]` decides, not the length of the path.
///
/// @param depth of the resources that it applies to: `/Code/module` has 1, `/Code/module/function` 2
/// @param span  depth of the resource in `$constraint[0]`
public record Constraint(Definition.Constraint definition, int depth, int span) {
    public String name() {
        return definition.name().text();
    }

    /// Whether it has no code, because it only selects threads or processes to read.
    public boolean isDefault() {
        return definition.isDefault();
    }

    /// Whether its statements replace the metric's base.
    public boolean replaces() {
        return definition.replaces();
    }

    /// Whether its code distinguishes objects that the program creates at run time: `/SyncObject`, `/File`.
    public boolean ofObjects() {
        return Hierarchies.OF_OBJECTS.contains(definition.path().getFirst().text()) && !isDefault() && !replaces();
    }

    /// Whether one value can represent the flags of all objects.
    public boolean isVector() {
        return ofObjects() && VectorForm.fits(definition);
    }

    /// Whether objects' numbers are indices, which need no hashing.
    public boolean isDirect() {
        return definition.index() == Definition.Index.DIRECT;
    }

    /// Whether it can select a resource.
    ///
    /// @param resource the components of its path, such as `Code`, `module`, `function`
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
