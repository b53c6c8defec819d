package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.statistics.ComparisonTest;

class HistoryReportTest {
    private static final HistoryReport HISTORY = new HistoryReport(List.of(
            new HistoryReport.Entry(ComparisonTest.run("app-1-20231114T221320"), Profiles.function("f", 100, 200, 300)),
            new HistoryReport.Entry(ComparisonTest.run("app-2-20231114T221320"), Profiles.function("f", 400))));

    @Test
    void shouldShowALineForEachRun() throws IOException {
        StringBuilder table = new StringBuilder();

        HISTORY.table(false, table);

        List<String> lines = table.toString().lines().toList();
        assertThat(lines).hasSize(4);
        assertThat(lines.get(0)).isEqualTo("f · /opt/app");
        assertThat(lines.get(1)).startsWith("STARTED").contains("p50", "p99", "LATENCY 100ns..1us");
        assertThat(lines.get(2)).contains("0123456789ab", "200ns", "300ns", "app-1-20231114T221320");
        assertThat(lines.get(3)).contains("0123456789ab", "400ns", "app-2-20231114T221320");
    }

    @Test
    void shouldGiveScriptsTheSame() throws IOException {
        StringBuilder json = new StringBuilder();
        StringBuilder csv = new StringBuilder();

        HISTORY.json(json);
        HISTORY.csv(csv);

        JsonNode root = new ObjectMapper().readTree(json.toString());
        assertThat(root).hasSize(2);
        assertThat(root.at("/0/run/id").asText()).isEqualTo("app-1-20231114T221320");
        assertThat(root.at("/0/build").asText()).isEqualTo("0123456789abcdef");
        assertThat(root.at("/0/p50Nanos").asLong()).isEqualTo(200);
        assertThat(csv.toString().split("\r\n"))
                .hasSize(3)
                .contains(
                        "2023-11-14T22:13:20Z,app-2-20231114T221320,0123456789abcdef,f,/opt/app,1,400,400,400,400,400");
    }

    @Test
    void shouldKeepFunctionsApartThatAPatternFinds() {
        Run run = ComparisonTest.run("app-1-20231114T221320");
        List<HistoryReport.Entry> entries = List.of(
                new HistoryReport.Entry(run, Profiles.function("f", 1)),
                new HistoryReport.Entry(run, Profiles.function("g", 1)),
                new HistoryReport.Entry(run, Profiles.function("f", 2)));

        assertThat(HistoryReport.ofEach(entries))
                .extracting(history -> history.entries().size())
                .containsExactly(2, 1);
    }
}
