package org.mdlagent.runtime.mdl.request;

import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.options.FunctionGlob;

/// A pattern for resource paths: in each component, `*` matches any text and `?` any character. A component
/// matches one level of the hierarchy.
public record ResourceGlob(Resource path) {
    /// Parses a pattern.
    ///
    /// @throws IllegalArgumentException with a message for the user
    public static ResourceGlob of(String path) {
        return new ResourceGlob(Resource.of(path));
    }

    /// Whether it is a pattern and not a plain path.
    public boolean isPattern() {
        return FunctionGlob.isPattern(path.toString());
    }

    /// Whether it matches a resource.
    public boolean matches(Resource resource) {
        return path.components().size() == resource.components().size() && covers(resource);
    }

    /// Whether it matches a resource or one of its ancestors.
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
