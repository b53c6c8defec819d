package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.session.SessionImage;

class TraceReportTest {
    @TempDir
    private Path directory;

    @Test
    void shouldWriteASliceForEachCallInMicroseconds() throws IOException {
        Profile profile = Profiles.read(SessionImage.sampledSample(), directory);
        FunctionProfile hot = profile.functions().getFirst();
        StringBuilder out = new StringBuilder();

        TraceReport.write(
                profile.session(),
                List.of(new TimedCall(4711, 101, hot, 1_234_567, 89)),
                SlowCall.All.NONE,
                Map.of(),
                out);

        JsonNode report = new ObjectMapper().readTree(out.toString());
        JsonNode slice = report.at("/traceEvents").get(report.at("/traceEvents").size() - 1);
        assertThat(slice.at("/ph").asText()).isEqualTo("X");
        assertThat(slice.at("/name").asText()).isEqualTo("hot");
        assertThat(slice.at("/ts").asDouble()).isEqualTo(1234.567);
        assertThat(slice.at("/dur").asDouble()).isEqualTo(0.089);
        assertThat(slice.at("/pid").asInt()).isEqualTo(4711);
        assertThat(slice.at("/tid").asInt()).isEqualTo(101);
        assertThat(report.at("/otherData/about").asText()).startsWith("the last sampled calls");
    }

    @Test
    void shouldNameProcessesAndThreadsInTheirOrder() throws IOException {
        Profile profile = Profiles.read(SessionImage.sampledSample(), directory);
        FunctionProfile hot = profile.functions().getFirst();
        StringBuilder out = new StringBuilder();

        TraceReport.write(
                profile.session(),
                List.of(
                        new TimedCall(12, 12, hot, 50, 1),
                        new TimedCall(4711, 99, hot, 40, 1),
                        new TimedCall(4711, 101, hot, 30, 1),
                        new TimedCall(11, 11, hot, 20, 1)),
                SlowCall.All.NONE,
                Map.of(101, "io_thd_1"),
                out);

        Map<String, List<String>> metadata = new TreeMap<>();
        for (JsonNode event : new ObjectMapper().readTree(out.toString()).at("/traceEvents")) {
            if (event.at("/ph").asText().equals("M")) {
                metadata.computeIfAbsent(event.at("/name").asText(), what -> new ArrayList<>())
                        .add(event.at("/tid").asText() + " "
                                + event.at("/args").elements().next().asText());
            }
        }
        assertThat(metadata.get("process_name")).containsExactly("4711 app", "11 app", "12 app");
        assertThat(metadata.get("process_sort_index")).containsExactly("4711 0", "11 4", "12 6");
        assertThat(metadata.get("thread_name"))
                .containsExactly(
                        "4711 first thread", "101 io_thd_1", "99 thread", "11 first thread", "12 first thread");
        assertThat(metadata.get("thread_sort_index")).containsExactly("4711 1", "101 2", "99 3", "11 5", "12 7");
    }
}
