package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.shim.EventCounter;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.fastinst.Probe;
import org.mdlagent.fastinst.ProbeClient;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.calls.Call;
import org.mdlagent.fastinst.calls.ReturnSite;
import org.mdlagent.fastinst.imports.Imports;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Program;
import org.mdlagent.runtime.mdl.request.Program.CodeModule;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Symbol;
import org.mdlagent.runtime.options.FunctionGlob;

/// A snapshot of the program as its probes show it.
final class ProbedProgram implements Program {
    private static final int POINTER_BYTES = 8;

    private final Map<Long, Procedure> procedures = new LinkedHashMap<>();
    private final Map<String, Symbol> symbols = new HashMap<>();
    private final Map<Point, List<Integer>> byPoint = new HashMap<>();

    /// Null until needed.
    private @Nullable Map<Procedure, List<Call>> calls;

    /// Null until a pattern is matched.
    private @Nullable List<Resource> code;

    /// Requested so far.
    private final Map<Procedure, Map<Point.Call, Call>> callPoints = new HashMap<>();

    private final ProbeClient client;
    private final Probes probes;
    private final String executable;
    private final Variables variables = new Variables();
    private final SyncObjects objects;
    private final Map<Procedure, Imports.Function> imported = new HashMap<>();
    private final int countedAlone;
    private int strangers;

    /// @param executable path of the program's own image
    ProbedProgram(ProbeClient client, Probes probes, SyncObjects objects, String executable) {
        this.client = client;
        this.probes = probes;
        this.objects = objects;
        this.executable = executable;
        client.discover(0, this::add);
        countedAlone = client.countedAlone();
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
        byPoint.computeIfAbsent(point, key -> new ArrayList<>()).add(probe.id());
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

    /// The probes of a point; a function may have several returns.
    List<Integer> probes(SnippetRequest snippet) {
        if (snippet.point() instanceof Point.Call point) {
            Call call = call(point);
            return snippet.isAtEnd() ? call.returns() : call.entries();
        }
        return byPoint.getOrDefault(snippet.point(), List.of());
    }

    /// Calls at a probe so far, according to the profiler.
    double reached(int probe) {
        return client.profiledCalls(probe);
    }

    /// Starts to count a kernel event: [ProbeClient#count].
    EventCounter count(KernelEvent event, int pid, int tid) {
        return client.count(event, pid, tid);
    }

    /// An application thread of the agent's process.
    int thread() {
        int pid = (int) ProcessHandle.current().pid();
        return client.processes().stream()
                .filter(live -> live.pid() == pid)
                .flatMap(live -> live.threads().stream())
                .findFirst()
                .orElse(pid);
    }

    /// Number of threads inside functions of `wanted` now; functions without threads are omitted.
    Map<Procedure, Integer> inside(Set<Procedure> wanted) {
        Map<Procedure, Integer> inside = new OpenCalls(address -> {
                    int function = probes.returnSites().outermostAt(address);
                    return function == ReturnSite.NONE
                            ? null
                            : procedures.get(new FunctionRecord(probes.function(function)).code());
                })
                .find(client.processes());
        inside.keySet().retainAll(wanted);
        return inside;
    }

    /// Probes that metrics of a focus miss: their function is known only at the first call, or several functions
    /// share them; also Go functions.
    List<Answer.Obstacle> unseen(Focus focus) {
        List<Answer.Obstacle> unseen = new ArrayList<>();
        if (strangers > 0) {
            unseen.add(new Answer.Obstacle(strangers + " probes", "their function is not known yet, or varies"));
        }
        unseen.addAll(inGo(focus));
        return unseen;
    }

    /// Why a focus cannot be measured, with possible causes.
    String explain(String reason, Focus focus) {
        return Stream.concat(Stream.of(reason), inGo(focus).stream().map(Answer.Obstacle::toString))
                .collect(Collectors.joining("; "));
    }

    private List<Answer.Obstacle> inGo(Focus focus) {
        boolean isElsewhere = focus.resources().stream()
                .filter(choice -> choice.hierarchy().equals(Hierarchies.CODE)
                        && choice.components().size() > 1)
                .map(choice -> choice.components().get(1))
                .anyMatch(this::isModule);
        return countedAlone == 0 || isElsewhere
                ? List.of()
                : List.of(new Answer.Obstacle(
                        countedAlone + " functions in Go", "metrics do not see them, the profile counts their calls"));
    }

    /// Procedures of source files, or of an image.
    private boolean isModule(String name) {
        return procedures.values().stream()
                .anyMatch(procedure -> procedure.module().equals(name)
                        || lastName(procedure.image()).equals(name));
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
    public List<String> files() {
        return probes.images().stream().map(ProbedProgram::lastName).toList();
    }

    @Override
    public Stream<Resource> code() {
        List<Resource> found = code;
        if (found == null) {
            found = Program.super.code().toList();
            code = found;
        }
        return found.stream();
    }

    /// Prepares them for snippets. Skips a function without room, and, unless named, one that may have stack
    /// arguments.
    @Override
    public List<Procedure> imported(FunctionGlob name) {
        List<Procedure> found = new ArrayList<>();
        for (String symbol :
                name.isName() ? Set.of(name.toString()) : probes.imports().symbols()) {
            Imports.Function function = name.matches("", "", symbol) ? importOf(symbol, name.isName()) : null;
            if (function != null) {
                found.add(add(function));
            }
        }
        return found;
    }

    @Override
    public boolean calls(FunctionGlob name) {
        return probes.imports().symbols().stream().anyMatch(symbol -> name.matches("", "", symbol));
    }

    private Imports.@Nullable Function importOf(String symbol, boolean isNamed) {
        try {
            return probes.imports().of(symbol);
        } catch (IllegalArgumentException e) {
            if (isNamed) {
                throw e;
            }
            return null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Procedure add(Imports.Function function) {
        Procedure procedure = new Procedure(
                function.probe(), function.name(), function.name(), lastName(function.image()), function.image());
        if (imported.put(procedure, function) == null) {
            byPoint.put(new Point.Entry(procedure), List.of(function.probe()));
            byPoint.put(new Point.Return(procedure), List.of(function.probe() + 1));
        }
        return procedure;
    }

    /// Whether a probe belongs to a library function whose calls the profiler does not see.
    boolean isOfLibrary(int probe) {
        return imported.values().stream().anyMatch(each -> probe == each.probe() || probe == each.probe() + 1);
    }

    /// Images that may call a function without reaching its probes, "" for none.
    String hiddenCallers(Procedure procedure) {
        Imports.Function function = imported.get(procedure);
        return function == null
                ? ""
                : function.hidden().stream().map(ProbedProgram::lastName).collect(Collectors.joining(", "));
    }

    /// Current processes and threads.
    @Override
    public List<Resource> instances() {
        List<Resource> instances = new ArrayList<>();
        for (LiveThreads live : client.processes()) {
            instances.add(Resource.of("/Process/" + live.pid()));
            live.threads().forEach(tid -> instances.add(Resource.of("/Thread/" + tid)));
        }
        instances.add(Resource.of("/Machine/" + ThreadChoice.host()));
        instances.addAll(objects.seen());
        instances.sort(Comparator.comparing(Resource::hierarchy));
        return instances;
    }

    @Override
    public @Nullable Procedure start() {
        return procedures.values().stream()
                .filter(procedure ->
                        procedure.symbol().equals("main") && procedure.image().equals(executable))
                .findFirst()
                .orElse(null);
    }

    @Override
    public boolean hasBegun() {
        return client.mainHasBegun();
    }

    @Override
    public List<Point.Call> calls(Procedure procedure) {
        return List.copyOf(points(procedure).keySet());
    }

    private Call call(Point.Call point) {
        return Objects.requireNonNull(points(point.procedure()).get(point));
    }

    private Map<Point.Call, Call> points(Procedure procedure) {
        Map<Point.Call, Call> points = callPoints.get(procedure);
        if (points == null) {
            points = new LinkedHashMap<>();
            for (Call call : calls().getOrDefault(procedure, List.of())) {
                points.put(new Point.Call(procedure, call.callee(), call.offset(), call.returnAddress()), call);
            }
            callPoints.put(procedure, points);
        }
        return points;
    }

    private Map<Procedure, List<Call>> calls() {
        Map<Procedure, List<Call>> found = calls;
        if (found == null) {
            found = new HashMap<>();
            try {
                for (Call call : probes.calls()) {
                    Procedure caller = procedures.get(call.caller());
                    if (caller != null) {
                        found.computeIfAbsent(caller, key -> new ArrayList<>()).add(call);
                    }
                }
            } catch (IOException e) {
                throw new IllegalArgumentException("calls are not known: " + e.getMessage(), e);
            }
            calls = found;
        }
        return found;
    }

    @Override
    public @Nullable String obstacle(Point point) {
        return switch (point) {
            case Point.Call call -> call(call).obstacle();
            case Point.Entry entry -> byPoint.containsKey(point) ? null : "no probe is known there";
            case Point.Return end ->
                byPoint.containsKey(point)
                        ? null
                        : "no probe sees it: the function may have arguments on the stack, or was compiled with -pg";
        };
    }

    @Override
    public @Nullable Symbol symbol(String name) {
        Symbol function = symbols.get(name);
        return function == null ? variables.find(name) : function;
    }

    @Override
    public long file(Resource file) {
        return objects.files().number(file);
    }

    @Override
    public @Nullable Symbol function(String name) {
        try {
            long address = probes.callable().find(name);
            return address == 0 ? null : new Symbol(name, address, POINTER_BYTES, false);
        } catch (IOException e) {
            return null; // as without symbols
        }
    }
}
