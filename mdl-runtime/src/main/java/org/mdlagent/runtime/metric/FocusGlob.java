package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.mdlagent.runtime.FunctionGlob;
import org.mdlagent.runtime.mdl.request.CodeModule;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Program;
import org.mdlagent.runtime.mdl.request.Resource;

/// Finds what a focus with `*` and `?` in its code means: each module or function that matches.
final class FocusGlob {
    private FocusGlob() {}

    /// The focuses that one stands for: itself where it is no pattern, or names something as it stands.
    static List<Focus> expand(Focus focus, Program program) {
        List<Resource> resources = focus.resources();
        int at = 0;
        while (at < resources.size() && !resources.get(at).hierarchy().equals("Code")) {
            at++;
        }
        if (at == resources.size() || !isPattern(resources.get(at).toString())) {
            return List.of(focus);
        }
        List<String> wanted = resources.get(at).components();
        List<String> paths = program.modules().stream()
                .flatMap(module -> matches(wanted, module))
                .distinct()
                .toList();
        if (paths.isEmpty() || paths.contains(resources.get(at).toString())) {
            return List.of(focus);
        }
        List<Focus> expanded = new ArrayList<>();
        for (String path : paths) {
            List<Resource> chosen = new ArrayList<>(resources);
            chosen.set(at, Resource.of(path));
            expanded.add(new Focus(List.copyOf(chosen)));
        }
        return expanded;
    }

    private static boolean isPattern(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('?') >= 0;
    }

    /// Paths of what `wanted` means in a module: the module, or functions of it.
    private static Stream<String> matches(List<String> wanted, CodeModule module) {
        if (!FunctionGlob.matches(wanted.get(1), module.name())) {
            return Stream.of();
        }
        return wanted.size() == 2
                ? Stream.of("/Code/" + module.name())
                : module.procedures().stream()
                        .filter(procedure -> FunctionGlob.matches(wanted.get(2), procedure.name()))
                        .map(Procedure::path);
    }
}
