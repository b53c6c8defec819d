package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.FunctionGlob;

/// A resource of a hierarchy.
///
/// @param components the hierarchy's name, then one for each level, such as `Code`, `module`, `function`
public record Resource(List<String> components) {
    /// For a file: the second component is the whole path without its first slash.
    private static final int FILE_COMPONENTS = 2;

    private static final String NUMBER = "#";

    /// For a function, whose name may contain slashes, such as `operator/`.
    static final int CODE_COMPONENTS = 3;

    /// Parses a path.
    ///
    /// @throws IllegalArgumentException with a message for the user
    public static Resource of(String path) {
        if (!path.startsWith("/")) {
            throw new IllegalArgumentException("a resource is given as /HIERARCHY/..., not as " + path);
        }
        int limit = path.startsWith("/" + Hierarchies.CODE + "/")
                ? CODE_COMPONENTS
                : path.startsWith("/" + Hierarchies.FILES + "/") ? FILE_COMPONENTS : -1;
        List<String> components = new ArrayList<>(List.of(path.substring(1).split("/", limit)));
        if (components.contains("")) {
            throw new IllegalArgumentException("a part of " + path + " is empty");
        }
        String hierarchy = components.getFirst();
        if (!Hierarchies.ALL.contains(hierarchy)) {
            String hint = Spelling.hint(
                    "/" + hierarchy, Hierarchies.ALL.stream().map("/"::concat).toList());
            throw new IllegalArgumentException(
                    "there is no hierarchy /" + hierarchy + (hint == null ? "" : ", " + hint));
        }
        return new Resource(List.copyOf(components));
    }

    /// The file with a number, named or not.
    public static Resource ofFile(long number) {
        return new Resource(List.of(Hierarchies.FILES, NUMBER + number));
    }

    /// Whether it is a file by number ([#ofFile]). No file name has this form.
    public boolean isNumberedFile() {
        return hierarchy().equals(Hierarchies.FILES)
                && !isRoot()
                && components.get(1).startsWith(NUMBER);
    }

    /// Whether it is a file by name.
    public boolean isNamedFile() {
        return hierarchy().equals(Hierarchies.FILES)
                && !isRoot()
                && !isNumberedFile()
                && !components.get(1).equals(ArgumentVector.OTHERS);
    }

    /// The number of a file by number.
    public long fileNumber() {
        return Long.parseLong(components.get(1).substring(NUMBER.length()));
    }

    public String hierarchy() {
        return components.getFirst();
    }

    /// Whether it is the whole hierarchy.
    public boolean isRoot() {
        return components.size() == 1;
    }

    /// For a function, the resource that represents all of its compiler-made copies; else this.
    public Resource ofCopies() {
        if (!hierarchy().equals(Hierarchies.CODE) || components.size() < CODE_COMPONENTS) {
            return this;
        }
        String name = components.get(CODE_COMPONENTS - 1);
        String original = FunctionGlob.original(name);
        if (original.equals(name)) {
            return this;
        }
        List<String> parts = new ArrayList<>(components);
        parts.set(CODE_COMPONENTS - 1, original);
        return new Resource(List.copyOf(parts));
    }

    @Override
    public String toString() {
        return "/" + String.join("/", components);
    }
}
