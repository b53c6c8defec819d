package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class SpeedscopeReportTest {
    @TempDir
    private Path directory;

    private JsonNode report(SessionImage image) throws IOException {
        StringBuilder out = new StringBuilder();
        SpeedscopeReport.write(Profiles.read(image, directory), out);
        return new ObjectMapper().readTree(out.toString());
    }

    @Test
    void shouldWriteCallPathsWithTheTimeOfTheirLastFunctions() throws IOException {
        JsonNode report = report(SessionImage.pathsSample());

        assertThat(report.at("/$schema").asText()).isEqualTo("https://www.speedscope.app/file-format-schema.json");
        assertThat(report.at("/shared/frames").findValuesAsText("name")).containsExactly("main", "work", "leaf", "rec");
        JsonNode profile = report.at("/profiles/0");
        assertThat(profile.at("/type").asText()).isEqualTo("sampled");
        assertThat(profile.at("/unit").asText()).isEqualTo("nanoseconds");
        assertThat(profile.at("/samples").toString()).isEqualTo("[[0,1],[0,1,2],[0,1,3],[0,2],[1],[1,2],[1,3]]");
        assertThat(profile.at("/weights").toString()).isEqualTo("[6000,1200,800,500,1500,300,200]");
        assertThat(profile.at("/startValue").asLong()).isZero();
        assertThat(profile.at("/endValue").asLong()).isEqualTo(10_500);
    }

    @Test
    void shouldKeepAnyName() throws IOException {
        SessionImage image = new SessionImage();
        image.function(Profiles.HOSTILE);
        image.path(image.cpuSamples(5, 0, 0, 5), 5, SessionImage.frameOf(0));

        assertThat(report(image).at("/shared/frames/0/name").asText()).isEqualTo(Profiles.HOSTILE);
    }
}
