package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.mdlagent.arch.layout.ApiDescriptor;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.profiler.text.JsonWriter;

/// A request in JSON: one object in one line, which is answered by one object in one line. It is executed as the
/// request in words that [Control] knows. `docs/scripting.md` lists the requests.
///
/// | | |
/// | --- | --- |
/// | request | `{"id": 1, "do": "enable", "functions": "work*"}` |
/// | answer | `{"id": 1, "ok": {"functions": 3}}` |
/// | or | `{"id": 1, "error": "no function with probes is work*", "remedy": "..."}` |
final class JsonRequest {
    /// What bytes become that are not UTF-8.
    private static final char UNREADABLE = '\uFFFD';

    private static final String ID = "id";
    private static final String DO = "do";
    private static final String FUNCTIONS = "functions";
    private static final String METRIC = "metric";
    private static final String FORCE = "force";
    private static final String FROM = "from";
    private static final String HOW = "how";
    private static final String MDL = "mdl";

    private static final String KNOWN =
            "there are functions, enable, disable, time, metrics, define, attach, detach and leave";
    private static final String FUNCTIONS_LISTED = "mdl list functions PID lists functions with probes";
    private static final String METRICS_LISTED =
            "mdl list metrics PID lists metrics, mdl list resources PID lists foci;"
                    + " \"force\": true allows a high overhead";

    private final Map<String, Command> commands;
    private final StringBuilder text = new StringBuilder();
    private final JsonWriter out = new JsonWriter(text, false);
    private Map<String, Object> members = Map.of();
    private String remedy = "a request is a line such as {\"id\": 1, \"do\": \"enable\", \"functions\": \"work*\"}";

    private JsonRequest(Map<String, Command> commands) {
        this.commands = commands;
    }

    /// Whether a line is a request in JSON.
    static boolean is(String line) {
        return line.startsWith("{");
    }

    /// Executes a request. Never throws, whatever the request.
    ///
    /// @param commands by the first words of requests in words
    /// @return one line, with its end
    static String answer(String line, Map<String, Command> commands) {
        JsonRequest request = new JsonRequest(commands);
        try {
            try {
                request.execute(line);
            } catch (RuntimeException e) {
                return request.refusal(String.valueOf(e.getMessage()));
            }
            request.text.append('\n');
            String answer = request.text.toString();
            return answer.getBytes(StandardCharsets.UTF_8).length <= ApiDescriptor.ANSWER_MAX
                    ? answer
                    : request.refusal("the answer is longer than " + ApiDescriptor.ANSWER_MAX + " bytes");
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a StringBuilder throws none
        }
    }

    private void execute(String line) throws IOException {
        if (line.indexOf(UNREADABLE) >= 0) {
            throw new IllegalArgumentException("the request is not UTF-8");
        }
        members = FlatJson.read(line);
        String verb = string(DO);
        remedy = KNOWN;
        boolean ofMetric = members.containsKey(METRIC);
        switch (verb) {
            case "functions" -> functions();
            case "enable" -> {
                if (ofMetric) {
                    enableMetric();
                } else {
                    switchFunctions("on");
                }
            }
            case "disable" -> {
                if (ofMetric) {
                    disableMetric();
                } else {
                    switchFunctions("off");
                }
            }
            case "time" -> time();
            case "metrics" -> metrics();
            case "define" -> define();
            case "attach", "detach", "leave" -> {
                remedy = "mdl attach PID attaches again; an agent that has left comes back with a new start";
                has();
                ask("agent", verb);
                begin().beginObject();
                end();
            }
            default -> throw new IllegalArgumentException("this agent does not " + verb);
        }
    }

    private void functions() throws IOException {
        remedy = FUNCTIONS_LISTED;
        has(FUNCTIONS, FROM);
        long from = members.containsKey(FROM) ? number(FROM) : 0;
        String glob = members.containsKey(FUNCTIONS) ? string(FUNCTIONS) : "*";
        List<String> lines = ask("probes", "list " + from + " " + glob);
        begin().beginArray();
        for (String line : lines) {
            String[] columns = line.split("\t", -1);
            out.element()
                    .beginObject()
                    .member("number", Long.parseLong(columns[0]))
                    .member("name", columns[1])
                    .member("image", columns[2])
                    .member("on", columns[3].equals("on"))
                    .endObject();
        }
        out.endArray().endObject();
    }

    private void switchFunctions(String state) throws IOException {
        remedy = FUNCTIONS_LISTED;
        has(FUNCTIONS);
        countFunctions(ask("probes", state + " " + string(FUNCTIONS)));
    }

    private void time() throws IOException {
        remedy = "\"how\" is \"exact\", \"sliced\" or a number N above 1: one of N calls is timed. " + FUNCTIONS_LISTED;
        has(FUNCTIONS, HOW);
        String how = members.get(HOW) instanceof Long mean ? mean.toString() : string(HOW);
        if (!how.matches("exact|sliced|[1-9][0-9]*")) {
            throw new IllegalArgumentException("functions are not timed " + how);
        }
        countFunctions(ask("probes", how + " " + string(FUNCTIONS)));
    }

    private void countFunctions(List<String> lines) throws IOException {
        String line = lines.getFirst();
        begin().beginObject().member(FUNCTIONS, Long.parseLong(line.substring(0, line.indexOf(' '))));
        end();
    }

    private void enableMetric() throws IOException {
        remedy = METRICS_LISTED;
        has(METRIC, FORCE);
        boolean force = members.containsKey(FORCE) && flag(FORCE);
        List<String> lines = ask("metric", (force ? "force " : "enable ") + string(METRIC));
        String[] counts = lines.getFirst().split("\t", 3);
        begin().beginObject().member("metrics", Long.parseLong(counts[0])).member("points", Long.parseLong(counts[1]));
        if (!counts[2].equals("-")) {
            out.member("overheadPercent", Double.parseDouble(counts[2]));
        }
        out.beginArray("notMeasured");
        for (String obstacle : lines.subList(1, lines.size())) {
            out.element(obstacle);
        }
        out.endArray();
        end();
    }

    private void disableMetric() throws IOException {
        remedy = "a metric is disabled by the text that enabled it; a pattern with * or ? selects all matches";
        has(METRIC);
        begin().beginObject()
                .member(
                        "metrics",
                        Long.parseLong(
                                ask("metric", "disable " + string(METRIC)).getFirst()));
        end();
    }

    private void metrics() throws IOException {
        has();
        List<String> lines = ask("metric", "list");
        begin().beginArray();
        for (String line : lines) {
            String[] columns = line.split("\t", -1);
            out.element()
                    .beginObject()
                    .member("name", columns[0])
                    .member("units", columns[1])
                    .member("mode", columns[2])
                    .member("title", columns[3])
                    .endObject();
        }
        out.endArray().endObject();
    }

    private void define() throws IOException {
        remedy = "mdl compile FILE explains errors of a definition";
        has(MDL);
        ask("metric", "define " + string(MDL));
        begin().beginObject();
        end();
    }

    /// Executes the request in words.
    ///
    /// @return its lines
    private List<String> ask(String command, String arguments) {
        Command found = commands.get(command);
        if (found == null) {
            throw new IllegalArgumentException("this agent knows no " + command);
        }
        return found.execute(arguments).lines().toList();
    }

    /// Begins an answer, whose value of `ok` is next.
    private JsonWriter begin() throws IOException {
        out.beginObject();
        writeId();
        return out.name("ok");
    }

    private void end() throws IOException {
        out.endObject().endObject();
    }

    private String refusal(String why) throws IOException {
        text.setLength(0);
        JsonWriter refusal = new JsonWriter(text, false).beginObject();
        writeId(refusal);
        refusal.member("error", ForeignText.printable(why))
                .member("remedy", remedy)
                .endObject();
        return text.append('\n').toString();
    }

    private void writeId() throws IOException {
        writeId(out);
    }

    private void writeId(JsonWriter to) throws IOException {
        Object id = members.get(ID);
        if (id instanceof Long number) {
            to.member(ID, number);
        } else if (id instanceof String string) {
            to.member(ID, string);
        }
    }

    /// @throws IllegalArgumentException if the request has other members than these, `id` and `do`
    private void has(String... names) {
        Set<String> others = new TreeSet<>(members.keySet());
        others.removeAll(Set.of(names));
        others.removeAll(Set.of(ID, DO));
        if (!others.isEmpty()) {
            remedy = names.length == 0 ? "it has none" : "it has " + String.join(" and ", names);
            throw new IllegalArgumentException(string(DO) + " has no member " + String.join(", ", others));
        }
    }

    private String string(String name) {
        if (members.get(name) instanceof String string && !string.isBlank()) {
            return string;
        }
        throw missing(name, "a text");
    }

    private long number(String name) {
        if (members.get(name) instanceof Long number && number >= 0 && number <= Integer.MAX_VALUE) {
            return number;
        }
        throw missing(name, "a number from 0");
    }

    private boolean flag(String name) {
        if (members.get(name) instanceof Boolean flag) {
            return flag;
        }
        throw missing(name, "true or false");
    }

    private static IllegalArgumentException missing(String name, String kind) {
        return new IllegalArgumentException("the member " + name + " is missing, or is not " + kind);
    }
}
