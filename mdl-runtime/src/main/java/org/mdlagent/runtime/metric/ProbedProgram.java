package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.EventCounter;
import org.mdlagent.arch.KernelEvent;
import org.mdlagent.fastinst.Probe;
import org.mdlagent.fastinst.ProbeClient;
import org.mdlagent.runtime.mdl.request.CodeModule;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Program;
import org.mdlagent.runtime.mdl.request.Symbol;

/// The program as its probes show it at one time.
final class ProbedProgram implements Program {
    static final String NO_CALLS = "there are probes at entries and returns only";

    private static final int POINTER_BYTES = 8;

    private final Map<Long, Procedure> procedures = new LinkedHashMap<>();
    private final Map<String, Symbol> symbols = new HashMap<>();
    private final Map<Point, List<Integer>> probes = new HashMap<>();
    private final ProbeClient client;
    private final String executable;
    private final Variables variables;
    private int strangers;

    /// @param executable path of the program's own image
    ProbedProgram(ProbeClient client, String executable) {
        this.client = client;
        this.executable = executable;
        variables = new Variables(executable);
        client.discover(0, this::add);
    }

    private void add(Probe probe) {
        String name = probe.name();
        if (probe.function() == 0 || name == null) {
            strangers++;
            return;
        }
        Procedure procedure = procedures.computeIfAbsent(probe.function(), address -> procedure(probe, name));
        symbols.putIfAbsent(procedure.symbol(), new Symbol(procedure.symbol(), probe.function(), POINTER_BYTES, false));
        if (probe.image().equals(executable)) {
            variables.add(procedure.symbol(), probe.function());
        }
        Point point = probe.kind() == Probe.Kind.ENTRY ? new Point.Entry(procedure) : new Point.Return(procedure);
        probes.computeIfAbsent(point, key -> new ArrayList<>()).add(probe.id());
    }

    private static Procedure procedure(Probe probe, String name) {
        String file = probe.file();
        String symbol = probe.symbol();
        return new Procedure(
                probe.id(),
                name,
                symbol == null ? name : symbol,
                lastName(file == null ? probe.image() : file),
                probe.image());
    }

    private static String lastName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /// The probes that see a point; a function may have several returns.
    List<Integer> probes(Point point) {
        return probes.getOrDefault(point, List.of());
    }

    /// How often a point has been reached so far, as the profiler knows.
    double calls(Point point) {
        List<Integer> seeing = probes(point);
        return seeing.isEmpty() ? 0 : client.profiledCalls(seeing.getFirst());
    }

    /// Begins to count an event of the kernel: [ProbeClient#count].
    EventCounter count(KernelEvent event, int pid, int tid) {
        return client.count(event, pid, tid);
    }

    /// Probes whose function shows with the first call only, or that several functions share: no procedure has them.
    int strangers() {
        return strangers;
    }

    @Override
    public List<CodeModule> modules() {
        Map<String, List<Procedure>> modules = new LinkedHashMap<>();
        for (Procedure procedure : procedures.values()) {
            modules.computeIfAbsent(procedure.module(), key -> new ArrayList<>())
                    .add(procedure);
        }
        return modules.entrySet().stream()
                .map(module -> new CodeModule(module.getKey(), List.copyOf(module.getValue())))
                .toList();
    }

    @Override
    public @Nullable Procedure start() {
        return procedures.values().stream()
                .filter(procedure ->
                        procedure.symbol().equals("main") && procedure.image().equals(executable))
                .findFirst()
                .orElse(null);
    }

    /// It is libc's.
    @Override
    public @Nullable Procedure exit() {
        return null;
    }

    @Override
    public List<Point.Call> calls(Procedure procedure) {
        return anyCall(procedure);
    }

    /// One that stands for all: nobody has looked for them.
    static List<Point.Call> anyCall(Procedure procedure) {
        return List.of(new Point.Call(procedure, "", 0));
    }

    @Override
    public @Nullable String obstacle(Point point) {
        if (!probes(point).isEmpty()) {
            return null;
        }
        return switch (point) {
            case Point.Call call -> NO_CALLS;
            case Point.Entry entry -> "no probe is known there";
            case Point.Return end -> "no probe is known there (with -pg there is none)";
        };
    }

    @Override
    public @Nullable Symbol symbol(String name) {
        Symbol function = symbols.get(name);
        return function == null ? variables.find(name) : function;
    }
}
