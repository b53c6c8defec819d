package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.request.Program.CodeModule;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.FunctionGlob;

/// Finds modules and procedures of a program by name, without those that files exclude.
final class ProgramIndex {
    private final Map<String, CodeModule> modules = new LinkedHashMap<>();
    private final List<Procedure> procedures = new ArrayList<>();
    private final Map<String, List<Procedure>> named = new HashMap<>();

    /// Cache by list item: requests for many resources repeat them.
    private final Map<String, List<Procedure>> meant = new HashMap<>();

    /// Procedures by the name of the module.
    private final Map<String, Set<Procedure>> inModule = new HashMap<>();

    private final Program program;
    private final Exclusions exclusions;

    ProgramIndex(Program program, List<Definition.Exclude> excludes) {
        this.program = program;
        exclusions = new Exclusions(excludes);
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

    /// Demangled and mangled names; for a compiler-made copy also the original's.
    private static Set<String> namesOf(Procedure procedure) {
        return new LinkedHashSet<>(
                List.of(procedure.name(), procedure.symbol(), FunctionGlob.original(procedure.name())));
    }

    /// The rest of a function calls its split-off part, so if the rest has probes, the part would count calls
    /// twice.
    private static List<Procedure> withoutParts(Collection<Procedure> procedures) {
        Set<String> whole = procedures.stream()
                .filter(procedure -> !FunctionGlob.isPart(procedure.name()))
                .map(Procedure::pathOfCopies)
                .collect(Collectors.toSet());
        return procedures.stream()
                .filter(procedure ->
                        !FunctionGlob.isPart(procedure.name()) || !whole.contains(procedure.pathOfCopies()))
                .toList();
    }

    List<CodeModule> modules() {
        return List.copyOf(modules.values());
    }

    List<Procedure> procedures() {
        return procedures;
    }

    /// The procedures that match a list item, a name or pattern.
    List<Procedure> procedures(String item) {
        return meant.computeIfAbsent(item, this::find);
    }

    private List<Procedure> find(String item) {
        FunctionGlob glob = FunctionGlob.of(item);
        Set<Procedure> found = new LinkedHashSet<>(named.getOrDefault(item, List.of()));
        for (Procedure procedure : procedures) {
            if (glob.matches(procedure.image(), procedure.module(), procedure.name())
                    || glob.matches(procedure.image(), procedure.module(), procedure.symbol())) {
                found.add(procedure);
            }
        }
        return withoutParts(found);
    }

    /// The called library procedures that match a list item.
    List<Procedure> imported(String item) {
        return program.imported(FunctionGlob.of(item)).stream()
                .filter(Predicate.not(exclusions::covers))
                .toList();
    }

    /// The modules of a list.
    List<CodeModule> modules(List<Name> items) {
        return items.stream()
                .flatMap(item ->
                        modules.values().stream().filter(module -> FunctionGlob.matches(item.text(), module.name())))
                .distinct()
                .toList();
    }

    CodeModule module(String name) throws Unresolvable {
        CodeModule module = modules.get(name);
        if (module == null) {
            module = ofImage(name);
        }
        if (module == null) {
            List<String> known = new ArrayList<>(modules.keySet());
            known.addAll(program.files());
            if (known.contains(name)) {
                throw new Unresolvable("/Code/" + name, "it has no function that metrics can see");
            }
            throw missing("/Code/" + name, "the program has no such module", Spelling.hint(name, known));
        }
        return module;
    }

    /// The procedures of an image with known source files, by its file name, or null.
    private @Nullable CodeModule ofImage(String name) {
        List<Procedure> found = procedures.stream()
                .filter(procedure -> procedure.image().endsWith("/" + name))
                .toList();
        return found.isEmpty() ? null : new CodeModule(name, found);
    }

    /// Candidate procedures for a module and a name; an image may have source files for some of its procedures
    /// only.
    private Set<Procedure> inModule(String name) throws Unresolvable {
        Set<Procedure> found = inModule.get(name);
        if (found == null) {
            found = new LinkedHashSet<>(module(name).procedures());
            CodeModule image = ofImage(name);
            found.addAll(image == null ? List.of() : image.procedures());
            inModule.put(name, found);
        }
        return found;
    }

    /// The procedure with a name in a module: all compiler-made copies.
    List<Procedure> copies(String moduleName, String name) throws Unresolvable {
        Set<Procedure> module = inModule(moduleName);
        List<Procedure> found = withoutParts(named.getOrDefault(name, List.of()).stream()
                .filter(module::contains)
                .toList());
        if (found.isEmpty()) {
            // Not a full name: without parameters or qualifiers.
            found = withoutParts(module.stream()
                    .filter(procedure -> FunctionGlob.meansName(name, procedure.name()))
                    .toList());
        }
        String path = "/Code/" + moduleName + "/" + name;
        if (found.isEmpty()) {
            List<String> names = module.stream().map(Procedure::name).toList();
            throw missing(path, "the module has no such function with probes", Spelling.hint(name, names));
        }
        long originals = found.stream().map(Procedure::pathOfCopies).distinct().count();
        long names = found.stream().map(Procedure::name).distinct().count();
        if (originals > 1 || names < found.size()) {
            throw new Unresolvable(path, "" + found.size() + " functions have this name: add its parameter types");
        }
        return found;
    }

    private static Unresolvable missing(String path, String reason, @Nullable String hint) {
        return new Unresolvable(path, hint == null ? reason : reason + ", " + hint);
    }
}
