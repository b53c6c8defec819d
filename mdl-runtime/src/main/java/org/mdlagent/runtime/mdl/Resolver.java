package org.mdlagent.runtime.mdl;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.mdl.syntax.SyntaxTree;
import org.mdlagent.runtime.mdl.syntax.ValueKind;
import org.mdlagent.runtime.options.FunctionGlob;

/// Resolves a file's names: lists first, then constraints, then metrics, because each may use the previous kinds.
final class Resolver {
    private final SyntaxTree tree;
    private final Definitions known;
    private final Diagnostics diagnostics;
    private final StatementChecker statements;
    private final Map<String, Definition.Items> lists = new LinkedHashMap<>();
    private final Map<String, Constraint> constraints = new LinkedHashMap<>();
    private final Map<String, Metric> metrics = new LinkedHashMap<>();
    private final List<Definition.Exclude> excludes = new ArrayList<>();

    /// Lines of the names that this file defines, correctly or not.
    private final Map<String, Integer> lines = new HashMap<>();

    Resolver(SyntaxTree tree, Definitions known, Diagnostics diagnostics) {
        this.tree = tree;
        this.known = known;
        this.diagnostics = diagnostics;
        this.statements = new StatementChecker(diagnostics);
    }

    Definitions resolve() {
        each(Definition.Items.class, this::list);
        Scope scope = Scope.of(listTypes());
        each(Definition.Constraint.class, constraint -> constraint(constraint, scope));
        each(Definition.Metric.class, metric -> metric(metric, scope));
        each(Definition.Exclude.class, this::exclude);
        each(Definition.Bare.class, bare -> {
            statements.check(bare.statement(), scope);
            diagnostics.ignored(bare.at(), "statements outside of metrics are not executed");
        });
        each(
                Definition.Tunables.class,
                tunables -> diagnostics.ignored(tunables.at(), "tunable constants have no meaning here"));
        each(
                Definition.Foreign.class,
                foreign -> diagnostics.ignored(foreign.at(), "a " + foreign.kind() + " has no meaning here"));
        return new Definitions(
                Collections.unmodifiableMap(lists),
                Collections.unmodifiableMap(constraints),
                Collections.unmodifiableMap(metrics),
                List.copyOf(excludes));
    }

    private <T extends Definition> void each(Class<T> type, Consumer<T> action) {
        tree.definitions().stream().filter(type::isInstance).map(type::cast).forEach(action);
    }

    /// Whether a name is new in this file.
    private boolean isNew(String what, Name name) {
        int line = tree.file().line(name.at());
        Integer first = lines.putIfAbsent(what + " " + name, line);
        if (first != null) {
            diagnostics.error(name.at(), what + " " + name + " is defined already, in line " + first);
        }
        return first == null;
    }

    private void list(Definition.Items list) {
        int errors = diagnostics.errors();
        boolean isNew = isNew("list", list.name());
        if (list.type() == Definition.ItemType.PROCEDURE) {
            for (Name item : list.items()) {
                try {
                    FunctionGlob.of(item.text());
                } catch (IllegalArgumentException e) {
                    diagnostics.error(item.at(), "'" + item + "' names no function: " + e.getMessage());
                }
            }
        }
        MetricResolver.checkFlavors(list.flavors(), diagnostics);
        if (isNew && diagnostics.errors() == errors) {
            lists.put(list.name().text(), list);
        }
    }

    /// Lists dropped because of errors match any type, to avoid follow-up errors.
    private Map<String, WhereType> listTypes() {
        Map<String, WhereType> types = new LinkedHashMap<>();
        tree.defective().forEach(name -> types.put(name, WhereType.ANY));
        known.lists().forEach((name, list) -> types.put(name, WhereType.of(list.type())));
        each(Definition.Items.class, list -> types.put(list.name().text(), WhereType.of(list.type())));
        return types;
    }

    private void constraint(Definition.Constraint constraint, Scope scope) {
        int errors = diagnostics.errors();
        boolean isNew = isNew("constraint", constraint.name());
        Constraint resolved =
                resolved(constraint, scope.withValue(constraint.name().text(), ValueKind.COUNTER));
        if (isNew && diagnostics.errors() == errors) {
            constraints.put(constraint.name().text(), resolved);
        }
    }

    private Constraint resolved(Definition.Constraint constraint, Scope scope) {
        Name hierarchy = constraint.path().getFirst();
        if (!Hierarchies.ALL.contains(hierarchy.text())) {
            String hint = Spelling.hint(hierarchy.text(), Hierarchies.ALL);
            if (hint == null) {
                diagnostics.ignored(hierarchy.at(), "there are no resources in /" + hierarchy + " here");
            } else {
                diagnostics.error(hierarchy.at(), "there is no hierarchy /" + hierarchy, hint);
            }
        }
        Selection selection = new Selection(constraint, diagnostics);
        statements.check(constraint.statements(), scope.inside(selection));
        Constraint resolved = selection.resolved();
        checkVector(resolved);
        return resolved;
    }

    private void checkVector(Constraint constraint) {
        Definition.Constraint definition = constraint.definition();
        if (definition.index() == null) {
            return;
        }
        if (!constraint.ofObjects()) {
            diagnostics.error(definition.at(), "a vector is for /SyncObject and /File only");
        }
        VectorForm.misfit(definition)
                .ifPresent(at -> diagnostics.error(
                        at,
                        "the code of a vector sets its flag by '" + constraint.name()
                                + " = EXPRESSION == $constraint[0];' or '" + constraint.name() + " = 0;' alone",
                        "write 'is counter'"));
    }

    private void metric(Definition.Metric metric, Scope scope) {
        int errors = diagnostics.errors();
        boolean isNew = isNew("metric", metric.name());
        MetricResolver resolver = new MetricResolver(metric, diagnostics, statements);
        Metric resolved = resolver.resolve(scope, this::constraint, this::resolved);
        if (isNew && resolved != null && diagnostics.errors() == errors) {
            metrics.put(resolved.id(), resolved);
        }
    }

    /// The constraint with a name, or null, which has been reported.
    private @Nullable Constraint constraint(Name name) {
        Constraint own = constraints.get(name.text());
        if (own != null) {
            return own;
        }
        boolean defective = tree.defective().contains(name.text()) || lines.containsKey("constraint " + name);
        Constraint shared = known.constraints().get(name.text());
        if (shared == null && !defective) {
            List<String> names = new ArrayList<>(known.constraints().keySet());
            names.addAll(constraints.keySet());
            diagnostics.error(name.at(), "there is no constraint " + name, Spelling.hint(name.text(), names));
        }
        return defective ? null : shared;
    }

    private void exclude(Definition.Exclude exclude) {
        if (exclude.regex()) {
            try {
                Pattern.compile(exclude.what());
            } catch (PatternSyntaxException e) {
                diagnostics.error(exclude.at(), "invalid regular expression: " + e.getDescription());
                return;
            }
        }
        excludes.add(exclude);
    }
}
