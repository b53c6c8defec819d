package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Program;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.ResourceGlob;

/// Finds what a focus with `*` and `?` means: each resource that matches.
public final class FocusGlob {
    private static final Resource ALL_FILES = new Resource(List.of(Hierarchies.FILES, "*"));

    private FocusGlob() {}

    /// The focuses that one stands for. A choice stands for itself where it is no pattern, or names something as it
    /// stands, or matches nothing. A pattern of objects stands for none as long as none has appeared.
    static List<Focus> expand(Focus focus, Program program) {
        List<List<Resource>> expanded = List.of(List.of());
        boolean alone = focus.resources().size() == 1;
        for (Resource choice : focus.resources()) {
            List<List<Resource>> longer = new ArrayList<>();
            List<Resource> meant = expand(choice, program, alone && choice.equals(ALL_FILES));
            for (List<Resource> chosen : expanded) {
                for (Resource resource : meant) {
                    List<Resource> more = new ArrayList<>(chosen);
                    more.add(resource);
                    longer.add(more);
                }
            }
            expanded = longer;
        }
        return expanded.stream().map(chosen -> new Focus(List.copyOf(chosen))).toList();
    }

    /// Whether more may match while the program runs: objects appear as they are used.
    public static boolean mayGrow(Focus focus) {
        return focus.resources().stream().anyMatch(FocusGlob::isOfObjects);
    }

    private static boolean isOfObjects(Resource choice) {
        return Hierarchies.OF_OBJECTS.contains(choice.hierarchy()) && new ResourceGlob(choice).isPattern();
    }

    /// Whether objects of a kind, as `/SyncObject/Mutex`, may match.
    static boolean isPartOf(Focus focus, Resource kind) {
        return focus.resources().stream()
                .map(Resource::components)
                .anyMatch(choice -> choice.size() == kind.components().size() + 1
                        && new ResourceGlob(new Resource(choice.subList(0, choice.size() - 1))).matches(kind));
    }

    /// @param numbers whether files are meant by their numbers, which have names or will
    private static List<Resource> expand(Resource choice, Program program, boolean numbers) {
        ResourceGlob glob = new ResourceGlob(choice);
        if (!glob.isPattern()) {
            return List.of(choice);
        }
        // Threads and processes are looked for only where some are asked for.
        Stream<Resource> candidates =
                choice.hierarchy().equals(Hierarchies.CODE) ? program.code() : program.instances().stream();
        List<Resource> found = candidates
                .filter(one -> numbers ? !one.isNamedFile() : !one.isNumberedFile())
                .flatMap(one -> meant(glob, one))
                .distinct()
                .toList();
        if (found.isEmpty() && isOfObjects(choice)) {
            return List.of();
        }
        return found.isEmpty() || found.contains(choice) ? List.of(choice) : found;
    }

    /// Of a function, all copies that the compiler has made of it, or this one where only its own name matches.
    private static Stream<Resource> meant(ResourceGlob glob, Resource resource) {
        Resource copies = resource.ofCopies();
        if (glob.matches(copies)) {
            return Stream.of(copies);
        }
        return !copies.equals(resource) && glob.matches(resource) ? Stream.of(resource) : Stream.empty();
    }
}
