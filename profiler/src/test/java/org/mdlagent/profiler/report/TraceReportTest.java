package org.mdlagent.profiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceReportTest {
    @TempDir
    private Path directory;

    @Test
    void shouldWriteASliceForEachCallInMicroseconds() throws IOException {
        Profile profile = Profiles.read(SessionImage.sampledSample(), directory);
        FunctionProfile hot = profile.functions().getFirst();
        StringBuilder out = new StringBuilder();

        TraceReport.write(profile.session(), List.of(new TimedCall(4711, 101, hot, 1_234_567, 89)), out);

        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(report.at("/traceEvents").size()).isEqualTo(2);
        JsonNode process = report.at("/traceEvents/0");
        assertThat(process.at("/ph").asText() + process.at("/args/name").asText())
                .isEqualTo("Mapp");
        JsonNode slice = report.at("/traceEvents/1");
        assertThat(slice.at("/ph").asText()).isEqualTo("X");
        assertThat(slice.at("/name").asText()).isEqualTo("hot");
        assertThat(slice.at("/ts").asDouble()).isEqualTo(1234.567);
        assertThat(slice.at("/dur").asDouble()).isEqualTo(0.089);
        assertThat(slice.at("/pid").asInt()).isEqualTo(4711);
        assertThat(slice.at("/tid").asInt()).isEqualTo(101);
        assertThat(report.at("/otherData/about").asText()).startsWith("the last sampled calls");
    }
}
