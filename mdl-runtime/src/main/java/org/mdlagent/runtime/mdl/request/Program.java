package org.mdlagent.runtime.mdl.request;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.options.FunctionGlob;

/// The program that a request is evaluated against, at that time.
public interface Program {
    /// A source file, or an image without source files in its debug information.
    ///
    /// @param name without slashes
    record CodeModule(String name, List<Procedure> procedures) {}

    List<CodeModule> modules();

    /// Names of loaded files, modules or not.
    default List<String> files() {
        return List.of();
    }

    /// Resources outside `/Code`, such as `/Thread/4711`.
    List<Resource> instances();

    /// All resources, each after its parent.
    default Stream<Resource> resources() {
        return Stream.concat(code(), instances().stream());
    }

    /// Resources of `/Code`.
    default Stream<Resource> code() {
        return modules().stream()
                .flatMap(module -> Stream.concat(
                        Stream.of("/Code/" + module.name()),
                        module.procedures().stream().map(Procedure::path)))
                .map(Resource::of);
    }

    /// Library functions that it calls, outside its modules, by name or pattern.
    List<Procedure> imported(FunctionGlob name);

    /// Whether it calls such a library function.
    boolean calls(FunctionGlob name);

    /// `main`, or null if unknown.
    @Nullable
    Procedure start();

    /// Whether `main` has begun, so its entry will not be seen.
    default boolean hasBegun() {
        return false;
    }

    /// The calls in a function; empty if unknown.
    List<Point.Call> calls(Procedure procedure);

    /// Why a point cannot be instrumented, or null.
    @Nullable
    String obstacle(Point point);

    /// The global variable or function with a name, or null.
    @Nullable
    Symbol symbol(String name);

    /// Number of a file, 0 if it cannot have one.
    ///
    /// @param file of `/File`
    long file(Resource file);

    /// The function with a name that code may call, or null.
    @Nullable
    Symbol function(String name);
}
