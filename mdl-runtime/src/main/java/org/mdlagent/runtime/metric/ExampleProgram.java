package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Program;
import org.mdlagent.runtime.mdl.request.Program.CodeModule;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.Symbol;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.options.FunctionGlob;

/// A dummy program with everything that definitions and a focus name: metrics are compiled for it without a
/// running program.
public final class ExampleProgram implements Program {
    private static final String MODULE = "example.c";
    private static final String START = "main";
    private static final String FUNCTION = "function";
    private static final String EXIT = "exit";
    private static final String IMAGE = "/bin/example";
    private static final long FIRST_ADDRESS = 0x10000000;
    private static final int VARIABLE_BYTES = 8;

    /// Properties of the one call in each function.
    private static final int CALL_OFFSET = 0x10;

    private final Procedure exit = new Procedure(0, EXIT, EXIT, "libc.so.6", "/lib/libc.so.6");
    private final Map<String, Map<String, Procedure>> modules = new LinkedHashMap<>();
    private final Map<String, Symbol> symbols = new LinkedHashMap<>();
    private int procedures = 1;

    public ExampleProgram(Definitions definitions, Focus focus) {
        add(MODULE, START);
        focus.resources().stream()
                .filter(resource -> resource.hierarchy().equals(Hierarchies.CODE))
                .forEach(this::add);
        definitions.lists().values().forEach(this::add);
    }

    private void add(Resource code) {
        List<String> components = code.components();
        add(components.get(1), components.size() > 2 ? components.get(2) : FUNCTION);
    }

    private void add(Definition.Items list) {
        for (Name item : list.items()) {
            switch (list.type()) {
                case PROCEDURE -> add(MODULE, matching(item.text()));
                case MODULE -> add(matching(item.text()), FUNCTION);
                default -> {}
            }
        }
    }

    /// A name that matches a pattern.
    private static String matching(String pattern) {
        return pattern.replace("*", "").replace('?', 'x');
    }

    private void add(String module, String name) {
        boolean elsewhere = modules.values().stream().anyMatch(names -> names.containsKey(name));
        if (!elsewhere || name.equals(FUNCTION)) {
            modules.computeIfAbsent(module, key -> new LinkedHashMap<>())
                    .put(name, new Procedure(procedures++, name, name, module, IMAGE));
        }
    }

    @Override
    public Symbol function(String name) {
        return symbol(name);
    }

    /// Assumed addresses of requested variables and functions.
    public List<Symbol> symbols() {
        return List.copyOf(symbols.values());
    }

    @Override
    public List<CodeModule> modules() {
        List<CodeModule> all = new ArrayList<>();
        modules.forEach((name, found) -> all.add(new CodeModule(name, List.copyOf(found.values()))));
        return all;
    }

    @Override
    public List<Resource> instances() {
        return List.of();
    }

    /// It defines everything that it calls, except `exit`.
    @Override
    public List<Procedure> imported(FunctionGlob name) {
        return name.toString().equals(EXIT) ? List.of(exit) : List.of();
    }

    /// It has all flavors.
    @Override
    public boolean calls(FunctionGlob name) {
        return true;
    }

    @Override
    public long file(Resource file) {
        return 1;
    }

    @Override
    public @Nullable Procedure start() {
        return modules.getOrDefault(MODULE, Map.of()).get(START);
    }

    @Override
    public List<Point.Call> calls(Procedure procedure) {
        return List.of(new Point.Call(procedure, FUNCTION, CALL_OFFSET, FIRST_ADDRESS));
    }

    @Override
    public @Nullable String obstacle(Point point) {
        return null;
    }

    @Override
    public Symbol symbol(String name) {
        return symbols.computeIfAbsent(
                name,
                key -> new Symbol(key, FIRST_ADDRESS + (long) symbols.size() * VARIABLE_BYTES, VARIABLE_BYTES, false));
    }
}
