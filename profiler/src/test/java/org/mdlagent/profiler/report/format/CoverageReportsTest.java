package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;

/// Sessions in which calls are counted, as table, JSON and tracefile.
class CoverageReportsTest {
    private static final String APP = "/opt/app/bin/app";
    private static final String LIBRARY = "/opt/app/lib/p.so";

    @TempDir
    private Path directory;

    private interface Report {
        void write(SessionReader reader, Profile profile, StringBuilder out) throws IOException;
    }

    private String report(Collected collected, Report report) throws IOException {
        SessionImage image = new SessionImage();
        image.putInt(HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_MIXED | collected.flags());
        image.putInt(HeaderDescriptor.EXIT_STATUS, 0);
        int main = image.function("main", "main", "/src/main.c", 3, APP);
        int parse = image.function("ns::parse(char)", "_ZN2ns5parseEc", "/src/parse.cc", 42, LIBRARY);
        image.function("ns::skip(char)", "_ZN2ns4skipEc", "/src/parse.cc", 60, LIBRARY);
        image.function("p.so+0x40", "p.so+0x40", "", 0, LIBRARY);
        long first = image.thread(101);
        long second = image.thread(102);
        image.count(first, main, 1);
        image.count(first, parse, 1);
        image.count(second, parse, 1);
        image.write(directory);
        Files.writeString(
                directory.resolve("agent.log"),
                "2026-11-29T13:13:58Z agent: " + LIBRARY + ": of 3 functions are left alone: 1 for: too short (x)\n");
        StringBuilder out = new StringBuilder();
        try (SessionReader reader = SessionReader.open(directory)) {
            report.write(reader, reader.profile(), out);
        }
        return out.toString();
    }

    @Test
    void shouldShowCoverageByImageAndFile() throws IOException {
        String table = report(
                Collected.COVERAGE,
                (reader, profile, out) -> new CoverageTable(24, false).write(profile, reader.notProbed(), out));

        assertThat(table).isEqualTo("""
            mdl  app · pid 4711 · 2.0 s · 2 threads · 4 functions, 2 called · coverage · probes 0.0 % · agent's CPU 0.0 % · session app-4711-20231114T221320
            IMAGE, FILE               FUNCTIONS  CALLED    PART
            /opt/app/bin/app                  1       1  100.0%
              /src/main.c                     1       1  100.0%
            /opt/app/lib/p.so                 3       1   33.3%
              (no source file known)          1       0    0.0%
              /src/parse.cc                   2       1   50.0%
            all                               4       2   50.0%
            /opt/app/lib/p.so: 1 functions have no probe: 1 for: too short (x)
            """);
    }

    @Test
    void shouldShowTheFilesWithTheMostFunctionsThatWereNotCalled() throws IOException {
        String table = report(
                Collected.COVERAGE,
                (reader, profile, out) -> new CoverageTable(1, false).write(profile, reader.notProbed(), out));

        assertThat(table).contains("/src/main.c", "(no source file known)").doesNotContain("/src/parse.cc");
    }

    @Test
    void shouldTellCoverageInJson() throws IOException {
        String json = report(
                Collected.COVERAGE,
                (reader, profile, out) -> JsonReport.write(
                        profile,
                        reader.notProbed(),
                        List.of(),
                        SlowCall.All.NONE,
                        EventCounts.NONE,
                        ProfileOrder.CALLS,
                        24,
                        out));

        assertThat(json.replaceAll("\\s+", ""))
                .contains("\"collected\":\"coverage\"", "\"coverage\":{\"probed\":4,\"called\":2,")
                .contains("\"probed\":3,\"called\":1,\"notProbed\":1,\"notProbedFor\":\"1for:tooshort(x)\",\"files\":[")
                .contains("{\"file\":\"/src/parse.cc\",\"probed\":2,\"called\":1}");
    }

    @Test
    void shouldWriteATracefileOfWhatHasASourceLine() throws IOException {
        String trace = report(Collected.COVERAGE, (reader, profile, out) -> LcovReport.write(profile, out));

        assertThat(trace).isEqualTo("""
            TN:
            SF:/src/main.c
            FN:3,main
            FNDA:1,main
            FNF:1
            FNH:1
            DA:3,1
            LF:1
            LH:1
            end_of_record
            SF:/src/parse.cc
            FN:60,_ZN2ns4skipEc
            FN:42,_ZN2ns5parseEc
            FNDA:0,_ZN2ns4skipEc
            FNDA:1,_ZN2ns5parseEc
            FNF:2
            FNH:1
            DA:42,1
            DA:60,0
            LF:2
            LH:1
            end_of_record
            """);
    }

    @Test
    void shouldWriteTheCallsOfASessionThatCountsThem() throws IOException {
        String trace = report(Collected.COUNTS, (reader, profile, out) -> LcovReport.write(profile, out));

        assertThat(trace).contains("FNDA:2,_ZN2ns5parseEc", "DA:42,2", "FNDA:0,_ZN2ns4skipEc");
    }

    @Test
    void shouldShowCallsAlone() throws IOException {
        String table = report(
                Collected.COUNTS,
                (reader, profile, out) ->
                        new TableReport(ProfileOrder.byDefault(profile), 24, false, 0).write(profile, out));

        assertThat(table)
                .contains("· counts ·")
                .containsPattern("\nFUNCTION +CALLS +RATE\nns::parse.char. +≥2 +≥1 /s\n");
    }
}
