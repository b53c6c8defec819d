package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What is answered to requests in JSON. Jackson tells what is JSON, and what it means.
class JsonRequestTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 50_000);
    private static final int REQUEST_MAX = 4096;
    private static final int ANSWER_MAX = 65536;

    private static final ObjectMapper JACKSON =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final List<String> executed = new ArrayList<>();
    private final Control control = new Control(Map.of(
            "probes", arguments -> done("probes " + arguments, probes(arguments)),
            "metric", arguments -> done("metric " + arguments, metric(arguments)),
            "agent", arguments -> done("agent " + arguments, "")));

    private String done(String request, String answer) {
        executed.add(request);
        return answer;
    }

    private static String probes(String arguments) {
        if (arguments.startsWith("list")) {
            return arguments.endsWith("many")
                    ? "1\t\"\t/a\ton\n".repeat(9_000)
                    : "7\twork\t/bin/a b\toff\n8\t\u00e9\t/b\ton\n";
        }
        if (arguments.endsWith("nobody")) {
            throw new IllegalArgumentException("no function with probes is nobody");
        }
        return "3 functions on\n";
    }

    private static String metric(String arguments) {
        return switch (arguments.split(" ")[0]) {
            case "enable", "force" -> "2\t3\t0.25\nnot \"this\"\n";
            case "disable" -> "2\n";
            case "list" -> "io_wait\tseconds\tnormal\tI/O wait\n";
            default -> "";
        };
    }

    private JsonNode ask(String request) throws Exception {
        String answer = control.answer(request);
        assertThat(answer).endsWith("}\n");
        assertThat(answer.indexOf('\n')).as("one line").isEqualTo(answer.length() - 1);
        return JACKSON.readTree(answer);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"do": "enable", "functions": "work*"}                | probes on work*                | {"functions": 3}
        {"do":"disable","functions":"a\\u0062"}               | probes off ab                  | {"functions": 3}
        {"do": "time", "functions": "f", "how": "exact"}      | probes exact f                 | {"functions": 3}
        {"do": "time", "functions": "f", "how": 100}          | probes 100 f                   | {"functions": 3}
        {"do": "functions"}                                   | probes list 0 *                | [{"number": 7, "name": "work", "image": "/bin/a b", "on": false}, {"number": 8, "name": "\u00e9", "image": "/b", "on": true}]
        {"do": "functions", "functions": "a", "from": 12}     | probes list 12 a               | [{"number": 7, "name": "work", "image": "/bin/a b", "on": false}, {"number": 8, "name": "\u00e9", "image": "/b", "on": true}]
        {"do": "enable", "metric": "io_wait@/Code/a.c"}       | metric enable io_wait@/Code/a.c | {"metrics": 2, "points": 3, "overheadPercent": 0.25, "notMeasured": ["not \\"this\\""]}
        {"do": "enable", "metric": "m", "force": true}        | metric force m                 | {"metrics": 2, "points": 3, "overheadPercent": 0.25, "notMeasured": ["not \\"this\\""]}
        {"do": "disable", "metric": "m"}                      | metric disable m               | {"metrics": 2}
        {"do": "metrics"}                                     | metric list                    | [{"name": "io_wait", "units": "seconds", "mode": "normal", "title": "I/O wait"}]
        {"do": "define", "mdl": "list l is string { }"}       | metric define list l is string { } | {}
        {"do": "detach"}                                      | agent detach                   | {}
        """)
    void shouldExecuteRequests(String request, String words, String ok) throws Exception {
        JsonNode answer = ask(request);

        assertThat(executed).containsExactly(words);
        assertThat(answer.get("ok")).isEqualTo(JACKSON.readTree(ok));
        assertThat(answer.size()).isOne();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {                                               | " is missing
        {}                                              | the member do is missing
        {"do": 1}                                       | the member do is missing, or is not a text
        {"do": "dance"}                                 | this agent does not dance
        {"do": "enable"}                                | the member functions is missing
        {"do": "enable", "functions": " "}              | the member functions is missing
        {"do": "enable", "functions": "nobody"}         | no function with probes is nobody
        {"do": "enable", "functions": "f", "force": true} | enable has no member force
        {"do": "enable", "metric": "m", "functions": "f"} | enable has no member functions
        {"do": "enable", "metric": "m", "force": 1}     | the member force is missing, or is not true or false
        {"do": "time", "functions": "f", "how": "list"} | functions are not timed list
        {"do": "functions", "from": -1}                 | the member from is missing, or is not a number from 0
        {"do": "functions", "functions": "many"}        | the answer is longer than 65536 bytes
        {"do": "enable", "do": "enable"}                | two members have the name do
        {"do": "enable"} {}                             | text follows the object
        {"do": ["enable"]}                              | a value nests
        {"do": null}                                    | a value is no text
        {"do": 1.5}                                     | a value is no text
        {"do": 1234567890123456789}                     | a value is no text
        {"do": "a\tb"}                                   | a text has a control character
        {"do": "\\x"}                                   | a text has an unknown escape
        {"do": "\\u12g4"}                               | a text has an unknown escape
        {"do": "enable                                  | a text does not end
        {"do": "enable", "functions": "\uFFFD"}          | the request is not UTF-8
        """)
    void shouldSayWhatIsWrongAndWhatToDo(String request, String error) throws Exception {
        JsonNode answer = ask(request);

        assertThat(answer.get("error").asText()).contains(error);
        assertThat(answer.get("remedy").asText()).isNotBlank();
        assertThat(answer.has("ok")).isFalse();
    }

    @Test
    void shouldAnswerWithTheIdOfTheRequest() throws Exception {
        assertThat(ask("{\"id\": 17, \"do\": \"metrics\"}").get("id").asInt()).isEqualTo(17);
        assertThat(ask("{\"id\": \"a\\n\\ud83d\\ude00\", \"do\": \"dance\"}")
                        .get("id")
                        .asText())
                .isEqualTo("a\n\ud83d\ude00");
        assertThat(ask("{\"id\": true, \"do\": \"metrics\"}").has("id")).isFalse();
    }

    @Test
    void shouldRefuseNestingOfAnyDepth() throws Exception {
        String deep = "{\"a\":".repeat(REQUEST_MAX / 5);

        assertThat(ask(deep).get("error").asText()).contains("a value nests");
        assertThat(ask("{\"a\":" + "[".repeat(REQUEST_MAX)).get("error").asText())
                .contains("a value nests");
    }

    /// Only what Jackson reads, too, is executed.
    @Test
    void shouldAnswerAnyBytesByOneObject() throws Exception {
        String[] seeds = {
            "{\"id\": 1, \"do\": \"enable\", \"functions\": \"work*\"}",
            "{\"id\":\"x\",\"do\":\"functions\",\"from\":10}",
            "{\"do\": \"enable\", \"metric\": \"io_wait@/Code/a.c\", \"force\": false}",
            "{\"do\": \"time\", \"functions\": \"\\u0061\\\"\", \"how\": 100}",
            "{\"do\": \"define\", \"mdl\": \"metric m { }\"}"
        };
        String alphabet = "{}[]\":,\\u0019abdoinfe\t \u0000\u00e9-.+";
        SplittableRandom random = new SplittableRandom(5);
        int accepted = 0;
        for (int i = 0; i < CASES; i++) {
            byte[] bytes = seeds[random.nextInt(seeds.length)].getBytes(StandardCharsets.UTF_8);
            for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
                bytes[random.nextInt(1, bytes.length)] = random.nextInt(4) == 0
                        ? (byte) random.nextInt(256)
                        : (byte) alphabet.charAt(random.nextInt(alphabet.length()));
            }
            String line = new String(bytes, StandardCharsets.UTF_8).replace('\n', ' ');
            executed.clear();

            JsonNode answer = ask(line);

            assertThat(answer.has("ok")).as(line).isNotEqualTo(answer.has("error"));
            assertThat(answer.has("error")).isEqualTo(answer.has("remedy"));
            if (answer.has("ok")) {
                assertThat(executed).as(line).hasSize(1);
                JsonNode meant = JACKSON.readTree(line.strip());
                assertThat(answer.get("id")).as(line).isEqualTo(textOrNumber(meant.get("id")));
                accepted++;
            }
        }
        assertThat(accepted).isBetween(CASES / 50, CASES / 2);
    }

    private static JsonNode textOrNumber(JsonNode id) {
        return id != null && (id.isTextual() || id.isIntegralNumber()) ? id : null;
    }

    @Test
    void shouldStayWithinTheLimitOfTheSocket() {
        String answer = control.answer("{\"do\": \"functions\", \"functions\": \"many\"}");

        assertThat(answer.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(ANSWER_MAX);
    }
}
