package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/// At most one resource from each hierarchy.
public record Focus(List<Resource> resources) {
    /// No resource.
    public static final Focus WHOLE_PROGRAM = new Focus(List.of());

    /// Parses the paths of resources.
    ///
    /// @throws IllegalArgumentException with a message for the user
    public static Focus of(List<String> paths) {
        List<Resource> resources = new ArrayList<>();
        for (String path : paths) {
            Resource resource = Resource.of(path);
            if (resources.stream().anyMatch(other -> other.hierarchy().equals(resource.hierarchy()))) {
                throw new IllegalArgumentException("a focus has one choice from /" + resource.hierarchy());
            }
            resources.add(resource);
        }
        return new Focus(resources.stream()
                .filter(resource -> !resource.isRoot())
                .sorted(Comparator.comparing(Resource::hierarchy))
                .toList());
    }

    /// The number of the first of several files measured together; 0 if there are none.
    public long firstFile() {
        return resources.stream()
                .filter(Resource::isNumberedFile)
                .mapToLong(Resource::fileNumber)
                .findFirst()
                .orElse(0);
    }

    @Override
    public String toString() {
        return resources.isEmpty()
                ? "the whole program"
                : resources.stream().map(Resource::toString).collect(Collectors.joining(","));
    }
}
