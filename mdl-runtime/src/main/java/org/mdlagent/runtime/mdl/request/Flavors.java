package org.mdlagent.runtime.mdl.request;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Flavor;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.options.FunctionGlob;

/// The flavors of a program. Metrics for other flavors cannot be requested.
final class Flavors {
    private final Program program;
    private final ProgramIndex index;
    private @Nullable Set<Flavor> found;

    Flavors(Program program, ProgramIndex index) {
        this.program = program;
        this.index = index;
    }

    /// Whether the program has one of the flavors. No flavors: all programs.
    boolean include(List<String> names) {
        return names.isEmpty()
                || names.stream().map(Flavor::of).flatMap(Optional::stream).anyMatch(found()::contains);
    }

    /// @throws Unresolvable if the program has none of the metric's flavors
    void require(Metric metric) throws Unresolvable {
        if (!include(metric.flavors())) {
            String lacking = metric.flavors().stream()
                    .map(Flavor::of)
                    .flatMap(Optional::stream)
                    .flatMap(flavor -> flavor.functions().stream())
                    .collect(Collectors.joining(" or "));
            throw new Unresolvable(
                    "metric " + metric.id(),
                    "it is for programs of flavor " + String.join(", ", metric.flavors()) + ", this one is of "
                            + found().stream().map(Flavor::word).collect(Collectors.joining(", "))
                            + (lacking.isEmpty() ? "" : " and calls no " + lacking)
                            + "; flavor unix is for all programs");
        }
    }

    private Set<Flavor> found() {
        if (found == null) {
            found = EnumSet.noneOf(Flavor.class);
            for (Flavor flavor : Flavor.values()) {
                List<String> functions = flavor.functions();
                if (functions.isEmpty() || functions.stream().anyMatch(this::has)) {
                    found.add(flavor);
                }
            }
        }
        return found;
    }

    private boolean has(String functions) {
        return !index.procedures(functions).isEmpty() || program.calls(FunctionGlob.of(functions));
    }
}
