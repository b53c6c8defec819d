package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class PerfScriptReportTest {
    @TempDir
    private Path directory;

    private String report(SessionImage image) throws IOException {
        StringBuilder out = new StringBuilder();
        PerfScriptReport.write(Profiles.read(image, directory), out);
        return out.toString();
    }

    @Test
    void shouldWriteAnEventForEachSampleInTheOrderOfTime() throws IOException {
        assertThat(report(SessionImage.samplesSample())).startsWith("""
                first 4711/101 0.000000:        100 cpu-clock:
                \t            2009 work+0x0 (/opt/app/bin/app)
                \t               0 main+0x0 (/opt/app/bin/app)

                first 4711/101 0.100000:        100 cpu-clock:
                """).endsWith("""
                second 4711/102 0.900000:        100 cpu-clock:
                \t            2000 leaf+0x0 (/opt/app/bin/app)
                \t               0 main+0x0 (/opt/app/bin/app)

                """);
    }

    @Test
    void shouldWriteNothingWithoutSamples() throws IOException {
        assertThat(report(SessionImage.callersSample())).isEmpty();
    }

    @Test
    void shouldKeepFramesAndLinesApartWhateverNamesHold() throws IOException {
        SessionImage image = new SessionImage();
        image.function("f(int)\n\nmain 1 0.5: 7 cpu-clock:");
        long samples = image.cpuSamples(5, 0, 0, 5);
        image.path(samples, 5, SessionImage.frameOf(0));
        image.sample(samples, 1, 1, image.sampledThread(samples, 7, "a\n1/2 3.0:"));

        assertThat(report(image).lines()).hasSize(3);
    }
}
