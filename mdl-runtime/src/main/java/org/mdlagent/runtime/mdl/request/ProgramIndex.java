package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.FunctionGlob;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Spelling;

/// Finds modules and procedures of a program by name. What files exclude is not there.
final class ProgramIndex {
    private final Map<String, CodeModule> modules = new LinkedHashMap<>();
    private final List<Procedure> procedures = new ArrayList<>();
    private final Map<String, List<Procedure>> named = new HashMap<>();

    ProgramIndex(Program program, List<Definition.Exclude> excludes) {
        Exclusions exclusions = new Exclusions(excludes);
        for (CodeModule module : program.modules()) {
            List<Procedure> kept = module.procedures().stream()
                    .filter(Predicate.not(exclusions::covers))
                    .toList();
            if (!kept.isEmpty()) {
                modules.put(module.name(), new CodeModule(module.name(), kept));
            }
            procedures.addAll(kept);
        }
        for (Procedure procedure : procedures) {
            for (String name : namesOf(procedure)) {
                named.computeIfAbsent(name, key -> new ArrayList<>()).add(procedure);
            }
        }
    }

    /// Demangled with and without its parameters, and mangled.
    private static Set<String> namesOf(Procedure procedure) {
        Set<String> names = new LinkedHashSet<>(List.of(procedure.name(), procedure.symbol()));
        int parameters = FunctionGlob.parameters(procedure.name());
        if (parameters > 0) {
            names.add(procedure.name().substring(0, parameters));
        }
        return names;
    }

    List<CodeModule> modules() {
        return List.copyOf(modules.values());
    }

    List<Procedure> procedures() {
        return procedures;
    }

    /// The procedures that a list's item means: by name, or by a pattern.
    List<Procedure> procedures(String item) {
        List<Procedure> exact = named.get(item);
        if (exact != null) {
            return exact;
        }
        FunctionGlob glob = FunctionGlob.of(item);
        return glob.isName()
                ? List.of()
                : procedures.stream()
                        .filter(procedure -> glob.matches(procedure.image(), procedure.module(), procedure.name())
                                || glob.matches(procedure.image(), procedure.module(), procedure.symbol()))
                        .toList();
    }

    /// The modules that a list names.
    List<CodeModule> modules(List<Name> items) {
        return items.stream()
                .flatMap(item ->
                        modules.values().stream().filter(module -> FunctionGlob.matches(item.text(), module.name())))
                .distinct()
                .toList();
    }

    CodeModule module(String name) throws NotHere {
        CodeModule module = modules.get(name);
        if (module == null) {
            throw missing("/Code/" + name, "the program has no such module", Spelling.hint(name, modules.keySet()));
        }
        return module;
    }

    /// The procedure of a name in a module.
    Procedure procedure(String moduleName, String name) throws NotHere {
        CodeModule module = module(moduleName);
        List<Procedure> found = named.getOrDefault(name, List.of()).stream()
                .filter(procedure -> procedure.module().equals(moduleName))
                .toList();
        String path = "/Code/" + moduleName + "/" + name;
        if (found.isEmpty()) {
            List<String> names =
                    module.procedures().stream().map(Procedure::name).toList();
            throw missing(path, "the module has no such function", Spelling.hint(name, names));
        }
        if (found.size() > 1) {
            throw new NotHere(path, "this means " + found.size() + " functions, write its parameters too");
        }
        return found.getFirst();
    }

    private static NotHere missing(String path, String reason, @Nullable String hint) {
        return new NotHere(path, hint == null ? reason : reason + ", " + hint);
    }
}
