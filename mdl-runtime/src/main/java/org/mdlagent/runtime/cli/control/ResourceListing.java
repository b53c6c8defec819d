package org.mdlagent.runtime.cli.control;

import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.ResourceGlob;
import org.mdlagent.runtime.mdl.syntax.Spelling;

/// The resources of a program, or those that a pattern selects: a tree on a terminal, otherwise one path per
/// line.
final class ResourceListing {
    private static final String STEP = "  ";

    private final List<Resource> selected;

    private ResourceListing(List<Resource> selected) {
        this.selected = selected;
    }

    /// @param pattern null for all
    /// @param paths   of all resources, each after its parent
    /// @throws CommandFailure when the pattern is invalid, or selects nothing
    static ResourceListing of(@Nullable String pattern, List<String> paths) {
        List<Resource> all = paths.stream().map(Resource::of).toList();
        if (pattern == null) {
            return new ResourceListing(all);
        }
        ResourceGlob glob = glob(pattern);
        List<Resource> selected = all.stream()
                .filter(glob.isPattern() ? glob::matches : glob::covers)
                .toList();
        if (selected.isEmpty()) {
            throw CommandFailure.failed("the program has no " + pattern, Spelling.hint(pattern, paths));
        }
        return new ResourceListing(selected);
    }

    private static ResourceGlob glob(String pattern) {
        try {
            return ResourceGlob.of(pattern);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()), "as in /Code/aof.c or '/Code/*/read*'");
        }
    }

    void print(PrintStream out, boolean tree) {
        List<String> above = List.of();
        for (Resource resource : selected) {
            List<String> components = resource.components();
            if (tree) {
                printBelow(above, components, out);
            } else {
                out.println(ForeignText.printable(resource.toString()));
            }
            above = components;
        }
    }

    /// The parts of a path that differ from the one before.
    private static void printBelow(List<String> above, List<String> components, PrintStream out) {
        int level = 0;
        while (level < Math.min(above.size(), components.size())
                && above.get(level).equals(components.get(level))) {
            level++;
        }
        for (; level < components.size(); level++) {
            out.println(STEP.repeat(level) + (level == 0 ? "/" : "") + ForeignText.printable(components.get(level)));
        }
    }
}
