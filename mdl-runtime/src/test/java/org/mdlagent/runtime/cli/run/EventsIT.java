package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// `mdl collect events`: the program knows how many pages it touches, and how often it sleeps.
class EventsIT {
    /// The kernel's rings have room for the stacks of all events before the many pages, however late the agent is.
    private static final int FEW = 40;

    /// More than the stacks and less than the places that a ring has room for, on machines with up to 64 processors,
    /// which share the room.
    private static final int MANY = 1500;
    private static final int NAPS = 50;

    @TempDir
    Path directory;

    private static JsonNode of(JsonNode events, String function) {
        for (JsonNode one : events.get("functions")) {
            if (one.get("name").asText().equals(function)) {
                return one;
            }
        }
        throw new AssertionError(function + " is not in " + events);
    }

    private static void allow(Dist.Outcome outcome) {
        assumeThat(outcome.err()).doesNotContain("is not counted: ");
        assertThat(outcome.status()).as(outcome.err()).isZero();
    }

    private List<String> program() throws Exception {
        return List.of(Dist.compile(directory, "kernel_events", "-O2").toString(), FEW + "", MANY + "", NAPS + "");
    }

    private JsonNode collect(String event, Path session) throws Exception {
        Path line = Files.writeString(directory.resolve("line"), "go\n");
        List<String> command = new ArrayList<>(
                List.of(Dist.mdl(), "collect", "events", "--event", event, "-o", session.toString(), "--"));
        command.addAll(program());
        allow(Dist.run(directory, Map.of(), line, command));
        JsonNode events = Dist.report(directory, session).get("events");
        assertThat(events.get("event").asText()).isEqualTo(event);
        assertThat(events.get("lost").asLong()).isZero();
        return events;
    }

    private static void assertPages(JsonNode events) {
        // The kernel may take a page away, which faults again.
        assertThat(of(events, "touch_pages").get("self").asLong())
                .isBetween(2L * FEW + MANY, 2L * FEW + MANY + FEW / 2);
        assertThat(of(events, "touch_few").get("total").asLong()).isBetween(2L * FEW, 2L * FEW + FEW / 2);
        assertThat(of(events, "touch_many").get("total").asLong()).isBetween((long) MANY, (long) MANY + FEW / 2);
        assertThat(of(events, "main").get("total").asLong()).isGreaterThanOrEqualTo(2L * FEW);
    }

    @ParameterizedTest
    @CsvSource({"page-faults", "minor-faults"})
    void shouldCountThePagesThatEachFunctionTouchesInThreadsAndForkedProcesses(String event) throws Exception {
        Path session = directory.resolve("session");

        assertPages(collect(event, session));

        Dist.Outcome folded =
                Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", "--format", "folded", session.toString()));
        assertThat(folded.text()).contains(";main;touch_few;touch_pages ");
        Dist.Outcome html =
                Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", "--format", "html", session.toString()));
        assertThat(html.err()).contains("a session of events knows no calls");
    }

    @Test
    void shouldCountHowOftenAFunctionSleeps() throws Exception {
        JsonNode events = collect("context-switches", directory.resolve("session"));

        assertThat(of(events, "nap").get("total").asLong()).isGreaterThanOrEqualTo(NAPS);
    }

    @Test
    void shouldCountTheEventsOfARunningProgram() throws Exception {
        Process process = new ProcessBuilder(program()).start();
        try {
            assertThat(process.inputReader().readLine()).isEqualTo("ready");
            Path session = directory.resolve("session");
            allow(Dist.run(
                    directory,
                    Map.of(),
                    List.of(Dist.mdl(), "collect", "events", "-o", session.toString(), "--pid", process.pid() + "")));
            process.outputWriter().write("go\n");
            process.outputWriter().flush();
            assertThat(process.waitFor()).isZero();

            assertPages(Dist.report(directory, session).get("events"));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldCollectNothingBeforeItsTime() throws Exception {
        Path line = Files.writeString(directory.resolve("line"), "go\n");
        Path session = directory.resolve("session");
        List<String> command = new ArrayList<>(
                List.of(Dist.mdl(), "collect", "events", "--after", "1h", "-o", session.toString(), "--"));
        command.addAll(program());
        allow(Dist.run(directory, Map.of(), line, command));

        assertThat(Dist.report(directory, session).get("events").get("functions"))
                .isEmpty();
    }

    @Test
    void shouldSayWhyAnEventIsNotCounted() throws Exception {
        Dist.Outcome hardware = Dist.run(
                directory, Map.of(), List.of(Dist.mdl(), "collect", "events", "--event", "cache-misses", "--", "true"));
        assertThat(hardware.status()).isNotZero();
        assertThat(hardware.err())
                .matches(
                        "mdl: cache-misses is not counted: [^\n]*\n"
                                + "|mdl: event=cache-misses is not possible; processors' counters are for metrics alone[^\n]*\n");

        Dist.Outcome other = Dist.run(
                directory, Map.of(), List.of(Dist.mdl(), "collect", "counts", "--event", "page-faults", "--", "true"));
        assertThat(other.err()).contains("--event=page-faults", "it is for mdl collect events");

        Dist.Outcome rule = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "collect", "events", "--when", "calls(main) > 0", "--", "true"));
        assertThat(rule.err()).contains("functions have no probes in this session");
    }

    @Test
    void shouldSayWhatAUserLacks() throws Exception {
        List<String> command = new ArrayList<>();
        if (Files.isWritable(Path.of("/proc/sys/kernel/perf_event_paranoid"))) { // root, who may count
            command.addAll(List.of("setpriv", "--bounding-set=-perfmon,-sys_admin"));
        }
        command.addAll(List.of(Dist.mdl(), "collect", "events", "--", "true"));
        Dist.Outcome outcome = Dist.run(directory, Map.of(), command);
        assumeThat(outcome.status()).isNotZero();

        assertThat(outcome.err())
                .matches("mdl: page-faults is not counted: (the kernel refuses to count for this user:"
                        + " perf_event_paranoid is \\d; sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON, allows it"
                        + "|perf_event_open is forbidden here, as in many containers)\n");
    }
}
