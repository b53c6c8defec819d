package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.request.Program.CodeModule;
import org.mdlagent.runtime.options.FunctionGlob;

/// A program that exists in tests only.
public final class FakeProgram implements Program {
    private final Map<String, List<Procedure>> modules = new LinkedHashMap<>();
    private final Map<String, List<Point.Call>> calls = new HashMap<>();
    private final Map<Point, String> obstacles = new HashMap<>();
    private final Map<String, Symbol> symbols = new HashMap<>();
    private final List<Resource> instances = new ArrayList<>();
    private final List<Procedure> imported = new ArrayList<>();
    private final List<String> files = new ArrayList<>();
    private int procedures;
    private boolean begun;

    /// Adds functions of C.
    public FakeProgram with(String module, String image, String... names) {
        for (String name : names) {
            withMangled(module, image, name, name);
        }
        return this;
    }

    FakeProgram withMangled(String module, String image, String name, String symbol) {
        modules.computeIfAbsent(module, key -> new ArrayList<>())
                .add(new Procedure(procedures++, name, symbol, module, image));
        return this;
    }

    FakeProgram withCall(String caller, String callee, long address) {
        calls.computeIfAbsent(caller, key -> new ArrayList<>())
                .add(new Point.Call(procedure(caller), callee, 0, address));
        return this;
    }

    FakeProgram thatHasBegun() {
        begun = true;
        return this;
    }

    @Override
    public boolean hasBegun() {
        return begun;
    }

    FakeProgram withObstacle(Point point, String reason) {
        obstacles.put(point, reason);
        return this;
    }

    public FakeProgram withSymbol(String name, long address, int size) {
        symbols.put(name, new Symbol(name, address, size, true));
        return this;
    }

    public FakeProgram withInstances(String... paths) {
        for (String path : paths) {
            instances.add(Resource.of(path));
        }
        return this;
    }

    Procedure procedure(String name) {
        return modules.values().stream()
                .flatMap(List::stream)
                .filter(procedure -> procedure.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public List<CodeModule> modules() {
        return modules.entrySet().stream()
                .map(module -> new CodeModule(module.getKey(), List.copyOf(module.getValue())))
                .toList();
    }

    @Override
    public List<Resource> instances() {
        return instances;
    }

    public FakeProgram withImported(String... names) {
        for (String name : names) {
            imported.add(new Procedure(procedures++, name, name, "libc.so.6", "/lib/libc.so.6"));
        }
        return this;
    }

    @Override
    public List<Procedure> imported(FunctionGlob name) {
        return imported.stream()
                .filter(procedure -> name.matches(procedure.image(), procedure.module(), procedure.name()))
                .toList();
    }

    @Override
    public boolean calls(FunctionGlob name) {
        return !imported(name).isEmpty();
    }

    @Override
    public @Nullable Procedure start() {
        return modules.values().stream()
                .flatMap(List::stream)
                .filter(procedure -> procedure.name().equals("main"))
                .findFirst()
                .orElse(null);
    }

    @Override
    public List<Point.Call> calls(Procedure procedure) {
        return calls.getOrDefault(procedure.name(), List.of());
    }

    @Override
    public @Nullable String obstacle(Point point) {
        return obstacles.get(point);
    }

    @Override
    public @Nullable Symbol symbol(String name) {
        return symbols.get(name);
    }

    @Override
    public @Nullable Symbol function(String name) {
        return symbol(name);
    }

    @Override
    public long file(Resource file) {
        return files.indexOf(file.components().get(1)) + 1;
    }

    /// Adds files, whose numbers count from 1.
    FakeProgram withFiles(String... names) {
        files.addAll(List.of(names));
        return this;
    }
}
