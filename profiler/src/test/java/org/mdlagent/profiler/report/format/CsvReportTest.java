package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.text.ForeignText;

class CsvReportTest {
    private static final String HEADER = "name,symbol,file,line,image,calls,callsExact,callsError,sampled,totalNanos,"
            + "totalError,selfNanos,selfError,minNanos,meanNanos,p50Nanos,p90Nanos,p99Nanos,p999Nanos,maxNanos,damage\r\n";

    @TempDir
    private Path directory;

    private static String report(Profile profile, int limit) throws IOException {
        StringBuilder out = new StringBuilder();
        CsvReport.write(profile, ProfileOrder.TOTAL, limit, out);
        return out.toString();
    }

    @Test
    void shouldWriteARowForEachFunctionAndLeaveWhatIsNotKnownEmpty() throws IOException {
        assertThat(report(Profiles.read(SessionImage.exactSample(), directory), Integer.MAX_VALUE))
                .isEqualTo(HEADER
                        + "main,_Zmain,/src/main.c,10,/opt/app/bin/app,1,true,,1,1500000000,,1498999100,,"
                        + "1500000000,1500000000,1500000000,1500000000,1500000000,1500000000,1500000000,\r\n"
                        + "ns::parse(char const*),_ZN2ns5parseEPKc,/src/parse.cpp,42,/opt/app/lib/p.so,4,true,,4,"
                        + "1000900,,1000900,,100,250225,200,1000000,1000000,1000000,1000000,\r\n"
                        + "unused,_Zunused,/src/unused.c,10,/opt/app/bin/app,0,true,,0,,,,,,,,,,,,\r\n");
    }

    @Test
    void shouldHaveColumnsOfCpuTimeWhereThatWasSampled() throws IOException {
        List<List<String>> rows = parse(report(Profiles.read(SessionImage.cpuSample(), directory), Integer.MAX_VALUE));

        assertThat(rows.getFirst()).hasSize(23).endsWith("damage", "cpuNanos", "cpuError");
        assertThat(rows.get(1)).startsWith("hot").endsWith("", "600000000", Double.toString(1.96 / Math.sqrt(600)));
        assertThat(rows.get(3)).startsWith("rare").endsWith("", "", "");
    }

    @Test
    void shouldWriteTheErrorOfAnEstimate() throws IOException {
        Profile profile = Profiles.read(SessionImage.sampledSample(), directory);

        List<String> hot = parse(report(profile, Integer.MAX_VALUE)).stream()
                .filter(row -> row.getFirst().equals("hot"))
                .findFirst()
                .orElseThrow();

        assertThat(hot.get(6)).isEqualTo("false");
        double error = profile.functions().getFirst().callsError().orElseThrow();
        assertThat(Double.parseDouble(hot.get(7))).isEqualTo(error).isBetween(0.059, 0.061);
    }

    @Test
    void shouldWriteTheFirstFunctionsOnly() throws IOException {
        List<List<String>> rows = parse(report(Profiles.read(SessionImage.exactSample(), directory), 1));

        assertThat(rows).hasSize(2);
        assertThat(rows.get(1).getFirst()).isEqualTo("main");
    }

    @Test
    void shouldQuoteAnyName() throws IOException {
        SessionImage image = new SessionImage();
        image.function(Profiles.HOSTILE);

        List<List<String>> rows = parse(report(Profiles.read(image, directory), 9));

        assertThat(rows).hasSize(2);
        assertThat(rows.get(1)).hasSize(21).startsWith(ForeignText.printable(Profiles.HOSTILE));
    }

    /// RFC 4180, section 2, read strictly: a quote may stand in a quoted field only.
    private static List<List<String>> parse(String csv) {
        List<List<String>> rows = new ArrayList<>();
        List<String> row = new ArrayList<>();
        int at = 0;
        while (at < csv.length()) {
            StringBuilder field = new StringBuilder();
            if (csv.charAt(at) == '"') {
                at++;
                while (csv.charAt(at) != '"' || csv.startsWith("\"\"", at)) {
                    field.append(csv.charAt(at));
                    at += csv.charAt(at) == '"' ? 2 : 1;
                }
                at++;
            } else {
                while (",\r\n\"".indexOf(csv.charAt(at)) < 0) {
                    field.append(csv.charAt(at++));
                }
            }
            row.add(field.toString());
            if (csv.charAt(at) == ',') {
                at++;
            } else {
                assertThat(csv.startsWith("\r\n", at)).as("end of row at " + at).isTrue();
                at += 2;
                rows.add(row);
                row = new ArrayList<>();
            }
        }
        return rows;
    }
}
