package org.mdlagent.runtime.mdl.request;

import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.options.FunctionGlob;

/// A path of resources, each of whose parts may have `*` for any text and `?` for any character. A part stands for one
/// level of the hierarchy.
public record ResourceGlob(Resource path) {
    /// Reads a path.
    ///
    /// @throws IllegalArgumentException with a message for the person who wrote it
    public static ResourceGlob of(String path) {
        return new ResourceGlob(Resource.of(path));
    }

    /// Whether it may mean more than the resource of this very name.
    public boolean isPattern() {
        return FunctionGlob.isPattern(path.toString());
    }

    /// Whether it means a resource.
    public boolean matches(Resource resource) {
        return path.components().size() == resource.components().size() && covers(resource);
    }

    /// Whether it means a resource or one above it.
    public boolean covers(Resource resource) {
        int levels = path.components().size();
        if (levels > resource.components().size()) {
            return false;
        }
        for (int i = 0; i < levels; i++) {
            String pattern = path.components().get(i);
            String name = resource.components().get(i);
            if (!(isFunction(i) ? FunctionGlob.meansName(pattern, name) : FunctionGlob.matches(pattern, name))) {
                return false;
            }
        }
        return true;
    }

    private boolean isFunction(int level) {
        return level == Resource.CODE_COMPONENTS - 1 && path.hierarchy().equals(Hierarchies.CODE);
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
