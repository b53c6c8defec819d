package org.mdlagent.runtime.mdl.request;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.options.FunctionGlob;

/// The program that a request is evaluated against, as it is at that time.
public interface Program {
    List<CodeModule> modules();

    /// Names of the files that are loaded, whether they are modules or not.
    default List<String> files() {
        return List.of();
    }

    /// What can be chosen outside of `/Code`, as `/Thread/4711`.
    List<Resource> instances();

    /// All that can be chosen, each behind the one that it is a part of.
    default Stream<Resource> resources() {
        return Stream.concat(code(), instances().stream());
    }

    /// Those of `/Code`.
    default Stream<Resource> code() {
        return modules().stream()
                .flatMap(module -> Stream.concat(
                        Stream.of("/Code/" + module.name()),
                        module.procedures().stream().map(Procedure::path)))
                .map(Resource::of);
    }

    /// Functions of libraries that it calls and that are not in its modules, by name or by a pattern.
    List<Procedure> imported(FunctionGlob name);

    /// Whether it calls such a function of a library.
    boolean calls(FunctionGlob name);

    /// `main`, null when it is not known.
    @Nullable
    Procedure start();

    /// Whether `main` runs: its entry will not be seen any more.
    default boolean hasBegun() {
        return false;
    }

    /// The calls in a function, empty where they are not known.
    List<Point.Call> calls(Procedure procedure);

    /// Why a point cannot be instrumented, null when it can.
    @Nullable
    String obstacle(Point point);

    /// A global variable or a function, null when there is none of that name.
    @Nullable
    Symbol symbol(String name);

    /// Number that stands for a file, 0 when there can be none.
    ///
    /// @param file of `/File`
    long file(Resource file);

    /// A function that code may call, null when there is none of that name.
    @Nullable
    Symbol function(String name);
}
