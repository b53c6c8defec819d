package org.mdlagent.profiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.profiler.report.exposition.OtlpReport;
import org.mdlagent.profiler.report.exposition.PrometheusReport;
import org.mdlagent.profiler.report.exposition.SessionSeries;
import org.mdlagent.profiler.report.format.JsonReport;
import org.mdlagent.profiler.report.format.TableReport;
import org.mdlagent.profiler.report.page.HtmlReport;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.slice.Timeline;

/// What a session did not see or keep is in every format that has a place for it.
class LossesTest {
    private static final Map<String, Long> LOST = new TreeMap<>(Map.of(
            "agent",
            1L,
            "apart",
            8L,
            "threads",
            2L,
            "images",
            3L,
            "functions",
            4L,
            "processes",
            5L,
            "unprobed",
            7L,
            "calls",
            6L,
            "damage",
            1L));

    @TempDir
    private Path directory;

    private Profile lossy() throws IOException {
        SessionImage image = SessionImage.exactSample();
        image.putInt(HeaderDescriptor.STATE, HeaderDescriptor.STATE_AGENT_DEAD);
        image.putLong(HeaderDescriptor.THREADS_REFUSED, 2);
        image.putLong(HeaderDescriptor.IMAGES_REFUSED, 3);
        image.putLong(HeaderDescriptor.FUNCTIONS_REFUSED, 4);
        image.putLong(HeaderDescriptor.PROCESSES_REFUSED, 5);
        image.putLong(HeaderDescriptor.PROCESSES_UNPROBED, 7);
        image.putInt(HeaderDescriptor.PROCESSES_APART, 8);
        image.putLong(image.thread(103) + ThreadDescriptor.REFUSED, 6);
        image.count(image.thread(104), 0, -1);
        return Profiles.read(image, directory);
    }

    private Profile whole() throws IOException {
        return Profiles.read(SessionImage.exactSample(), directory);
    }

    @Test
    void shouldBeInJson() throws IOException {
        assertThat(json(lossy())).isEqualTo(LOST);
        assertThat(json(whole())).isEmpty();
    }

    private static Map<String, Long> json(Profile profile) throws IOException {
        StringBuilder out = new StringBuilder();
        JsonReport.write(profile, ProfileOrder.TOTAL, 10, out);
        Map<String, Long> losses = new TreeMap<>();
        for (JsonNode loss : new ObjectMapper().readTree(out.toString()).get("losses")) {
            assertThat(loss.get("meaning").asText()).isNotBlank();
            losses.put(loss.get("reason").asText(), loss.get("count").asLong());
        }
        return losses;
    }

    @Test
    void shouldBeInPrometheusFromTheStart() throws IOException {
        LOST.forEach((reason, count) -> assertThat(prometheus(reason)).isEqualTo(count));
    }

    private long prometheus(String reason) {
        try {
            StringBuilder out = new StringBuilder();
            PrometheusReport.write(lossy(), ProfileOrder.TOTAL, 10, out);
            String line = out.toString()
                    .lines()
                    .filter(one -> one.startsWith("mdl_losses_total{") && one.contains("reason=\"" + reason + "\""))
                    .findFirst()
                    .orElseThrow();
            StringBuilder without = new StringBuilder();
            PrometheusReport.write(whole(), ProfileOrder.TOTAL, 10, without);
            assertThat(without.toString()).contains("reason=\"" + reason + "\"} 0");
            return (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldBeInOtlp() throws IOException {
        StringBuilder out = new StringBuilder();
        OtlpReport.write(List.of(new SessionSeries(lossy(), 10)), Instant.EPOCH, "host", out);
        Map<String, Long> losses = new TreeMap<>();
        for (JsonNode metric :
                new ObjectMapper().readTree(out.toString()).at("/resourceMetrics/0/scopeMetrics/0/metrics")) {
            if (metric.get("name").asText().equals("mdl.losses")) {
                for (JsonNode point : metric.at("/sum/dataPoints")) {
                    losses.put(
                            point.at("/attributes/0/value/stringValue").asText(),
                            point.get("asInt").asLong());
                }
            }
        }
        assertThat(losses).isEqualTo(LOST);
    }

    @Test
    void shouldBeInTableAndPage() throws IOException {
        Profile profile = lossy();
        StringBuilder table = new StringBuilder();
        new TableReport(ProfileOrder.TOTAL, 10, false, 0).write(profile, table);
        StringBuilder page = new StringBuilder();
        HtmlReport.write(profile, new Timeline(List.of(), List.of()), List.of(), ProfileOrder.TOTAL, 10, page);

        List<String> sentences = List.of(
                "the agent failed in this run",
                "2 threads were not seen for lack of room",
                "3 programs or libraries were left alone",
                "4 functions have no probe",
                "5 processes have no record for lack of room",
                "7 processes that were forked before the probes were in place had none",
                "8 processes are not counted since they or their parents gave up rights",
                "6 calls were not timed for lack of room");
        assertThat(table.toString()).contains(sentences);
        assertThat(page.toString()).contains(sentences);
    }
}
