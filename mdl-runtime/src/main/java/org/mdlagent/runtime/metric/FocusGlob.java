package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Program;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.ResourceGlob;

/// Expands a focus with `*` and `?` to the matching resources.
public final class FocusGlob {
    private static final Resource ALL_FILES = new Resource(List.of(Hierarchies.FILES, "*"));

    private FocusGlob() {}

    /// The expansion of a focus. A resource stays unchanged if it is no pattern, exists literally, or matches
    /// nothing. A pattern for objects expands to none until one is discovered.
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

    /// Whether more may match later, because objects are discovered as they are used.
    public static boolean mayGrow(Focus focus) {
        return focus.resources().stream().anyMatch(FocusGlob::isOfObjects);
    }

    private static boolean isOfObjects(Resource choice) {
        return Hierarchies.OF_OBJECTS.contains(choice.hierarchy()) && new ResourceGlob(choice).isPattern();
    }

    /// Whether objects of a kind, such as `/SyncObject/Mutex`, may match.
    static boolean isPartOf(Focus focus, Resource kind) {
        return focus.resources().stream()
                .map(Resource::components)
                .anyMatch(choice -> choice.size() == kind.components().size() + 1
                        && new ResourceGlob(new Resource(choice.subList(0, choice.size() - 1))).matches(kind));
    }

    /// @param numbers whether to match files by number, named or not
    private static List<Resource> expand(Resource choice, Program program, boolean numbers) {
        ResourceGlob glob = new ResourceGlob(choice);
        if (!glob.isPattern()) {
            return List.of(choice);
        }
        // Threads and processes are listed only if requested.
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

    /// For a function, all of its compiler-made copies, or only this one if only its own name matches.
    private static Stream<Resource> meant(ResourceGlob glob, Resource resource) {
        Resource copies = resource.ofCopies();
        if (glob.matches(copies)) {
            return Stream.of(copies);
        }
        return !copies.equals(resource) && glob.matches(resource) ? Stream.of(resource) : Stream.empty();
    }
}
