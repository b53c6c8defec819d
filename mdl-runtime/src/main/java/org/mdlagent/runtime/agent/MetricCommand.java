package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Collectors;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.metric.MetricRequest;
import org.mdlagent.runtime.metric.Metrics;

/// `metric enable|force|disable REQUEST`, `metric define MDL` (one definition), `metric list`, `metric
/// points|resources FIRST`. Readers find the values in the session. Columns are separated by tabs.
///
/// | answer to | lines |
/// | --- | --- |
/// | `enable` | metrics, points, expected overhead in percent, refused if high; then a line for each obstacle |
/// | `force` | the same, whatever the overhead |
/// | `define` | none |
/// | `disable` | how many |
/// | `list` | name for requests, units, mode, name for people |
/// | `points` | request, order, kind of point, function and, of a call, offset there, flags that it tests; from number
/// FIRST on, as many as fit |
/// | `resources` | path; from number FIRST on, as many as fit |
final class MetricCommand implements Command {
    /// Below the socket's limit.
    private static final int ANSWER_CHARS = 15_000;

    private static final int OBSTACLES_MAX = 20;

    /// Maximum overhead of one request in percent of a processor, unless it is forced.
    private static final double PERCENT_MAX = 10;

    private final Metrics metrics;
    private final OnDemand onDemand;

    MetricCommand(Metrics metrics, OnDemand onDemand) {
        this.metrics = metrics;
        this.onDemand = onDemand;
    }

    @Override
    public String execute(String arguments) {
        int blank = arguments.indexOf(' ');
        String verb = blank < 0 ? arguments : arguments.substring(0, blank);
        String rest = arguments.substring(verb.length()).strip();
        try {
            return switch (verb) {
                case "enable" -> enable(MetricRequest.of(rest), PERCENT_MAX);
                case "force" -> enable(MetricRequest.of(rest), Double.POSITIVE_INFINITY);
                case "define" -> define(rest);
                case "disable" -> metrics.disable(MetricRequest.of(rest)) + "\n";
                case "list" -> list();
                case "points" -> points(Integer.parseUnsignedInt(rest));
                case "resources" -> resources(Integer.parseUnsignedInt(rest));
                default ->
                    throw new IllegalArgumentException(
                            "metrics are asked for by: metric enable|force|disable REQUEST, define MDL, list, points|resources FIRST");
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String enable(MetricRequest request, double percentMax) throws IOException {
        onDemand.open(request.focus());
        Metrics.Outcome outcome = metrics.enable(request, percentMax);
        StringBuilder answer = new StringBuilder();
        answer.append(String.join(
                        "\t",
                        Integer.toString(outcome.metrics()),
                        Integer.toString(outcome.points()),
                        outcome.percent().isPresent()
                                ? Metrics.significant(outcome.percent().getAsDouble())
                                : "-"))
                .append('\n');
        outcome.obstacles().stream()
                .limit(OBSTACLES_MAX)
                .forEach(obstacle -> answer.append(obstacle).append('\n'));
        int more = outcome.obstacles().size() - OBSTACLES_MAX;
        return more > 0 ? answer.append("and ").append(more).append(" more\n").toString() : answer.toString();
    }

    private String define(String mdl) {
        metrics.define(mdl);
        return "";
    }

    private String list() {
        StringBuilder answer = new StringBuilder();
        for (Metric metric : metrics.definitions().metrics().values()) {
            String mode = metric.developer() ? "developer" : "normal";
            answer.append(String.join("\t", metric.id(), metric.units(), mode, metric.name()))
                    .append('\n');
        }
        return answer.toString();
    }

    private String points(int first) {
        List<Metrics.PlacedSnippet> all = metrics.points();
        StringBuilder answer = new StringBuilder();
        for (int i = first; i < all.size() && answer.length() < ANSWER_CHARS; i++) {
            SnippetRequest snippet = all.get(i).snippet();
            answer.append(String.join(
                            "\t",
                            all.get(i).request().toString(),
                            snippet.order().word(),
                            kind(snippet),
                            place(snippet.point()),
                            snippet.guards().stream().map(Value::name).collect(Collectors.joining(" "))))
                    .append('\n');
        }
        return answer.toString();
    }

    private String resources(int first) throws IOException {
        List<Resource> all = metrics.resources();
        StringBuilder answer = new StringBuilder();
        for (int i = first; i < all.size() && answer.length() < ANSWER_CHARS; i++) {
            answer.append(all.get(i)).append('\n');
        }
        return answer.toString();
    }

    private static String kind(SnippetRequest snippet) {
        return switch (snippet.point()) {
            case Point.Entry entry -> "entry";
            case Point.Return end -> "return";
            case Point.Call call -> (snippet.isAtEnd() ? "after" : "before") + " call of " + call.callee();
        };
    }

    private static String place(Point point) {
        String path = point.procedure().path();
        if (!(point instanceof Point.Call call)) {
            return path;
        }
        // Parts of a function may precede it.
        return path + (call.offset() < 0 ? "-0x" : "+0x") + Long.toHexString(Math.abs(call.offset()));
    }
}
