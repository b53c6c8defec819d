package org.mdlagent.runtime.cli.control;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.SnippetPlace;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Optimiser;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.SnippetPrinter;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.metric.CompiledMetric;

/// The last stages of a metric's compilation as text: its snippets in intermediate form or as machine code,
/// for probes that see whole functions. Points with the same code are grouped.
final class MetricListing {
    private static final String INDENT = "    ";
    private static final int POINTS_SHOWN = 4;

    /// Assumed addresses of the code and of its continuation.
    private static final long AT = 0x1000;

    private static final long RESUME = 0x2000;

    /// Assumed address of called functions of the program.
    private static final long CALL = 0x3000;

    private final CompiledMetric metric;

    MetricListing(CompiledMetric metric) {
        this.metric = metric;
    }

    /// The key by which points with the same code are grouped.
    ///
    /// @param order first or last among the snippets of a point
    private record Group(String order, Body body, Snippet snippet) {
        static Group of(CompiledMetric.Placed placed) {
            return new Group(
                    placed.request().order().word(),
                    placed.request().isAtEnd() ? Body.FUNCTION_EXIT : Body.FUNCTION_ENTRY,
                    placed.snippet());
        }

        String place() {
            return order + (body == Body.FUNCTION_ENTRY ? " entry" : " return");
        }

        /// The functions whose entries or returns they are.
        static String point(CompiledMetric.Placed placed) {
            Point point = placed.request().point();
            return point instanceof Point.Call call
                    ? call.callee() + ", called by " + call.procedure().path()
                    : point.procedure().path();
        }
    }

    /// What the snippets do.
    String ir() {
        return text(group -> SnippetPrinter.print(group.snippet, this::name));
    }

    /// Their machine code.
    String asm(Disassembler disassembler) {
        return text(group -> {
            byte[] code = InstructionSet.ofAtomicUnit(Long.BYTES)
                    .snippets()
                    .compile(
                            new Optimiser(Optimisation.all()).optimise(List.of(group.snippet)),
                            new SnippetPlace(group.body, RESUME, CALL),
                            AT,
                            Optimisation.all());
            return disassembler.list(code, AT);
        });
    }

    private String text(Function<Group, String> stage) {
        Map<Group, List<String>> groups = new LinkedHashMap<>();
        for (CompiledMetric.Placed placed : metric.snippets()) {
            groups.computeIfAbsent(Group.of(placed), key -> new ArrayList<>()).add(Group.point(placed));
        }
        StringBuilder out = new StringBuilder();
        metric.values()
                .forEach((index, name) ->
                        line(out, "values+0x" + Long.toHexString((long) index * Long.BYTES) + " " + name));
        metric.texts().forEach((text, at) -> line(out, "\"" + text + "\" at 0x" + Long.toHexString(at)));
        groups.forEach((group, points) -> {
            line(out, group.place() + " of " + join(points));
            stage.apply(group).lines().forEach(line -> line(out, INDENT + line));
        });
        metric.obstacles().forEach(obstacle -> line(out, "not measured: " + obstacle));
        return out.toString();
    }

    private String name(int index) {
        return metric.values().getOrDefault(index, "value " + index);
    }

    private static String join(List<String> points) {
        int shown = Math.min(points.size(), POINTS_SHOWN);
        int more = points.size() - shown;
        return String.join(", ", points.subList(0, shown)) + (more > 0 ? " and " + more + " more" : "");
    }

    private static void line(StringBuilder out, String text) {
        out.append(INDENT).append(text).append('\n');
    }
}
