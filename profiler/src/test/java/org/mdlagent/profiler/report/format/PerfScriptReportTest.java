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
    void shouldWriteAnEventForEachPathTheInnermostFrameFirst() throws IOException {
        assertThat(report(SessionImage.pathsSample())).startsWith("""
                app 4711 0.000000:       6000 cpu-clock:
                \t               0 work+0x0 (/opt/app/bin/app)
                \t               0 main+0x0 (/opt/app/bin/app)

                app 4711 0.000006:       1200 cpu-clock:
                \t               0 leaf+0x0 (/opt/app/bin/app)
                \t               0 work+0x0 (/opt/app/bin/app)
                \t               0 main+0x0 (/opt/app/bin/app)

                """).endsWith("""
                app 4711 0.000010:        200 cpu-clock:
                \t               0 rec+0x0 (/opt/app/bin/app)
                \t               0 work+0x0 (/opt/app/bin/app)

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
        image.path(image.cpuSamples(5, 0, 0, 5), 5, SessionImage.frameOf(0));

        assertThat(report(image).lines()).hasSize(3);
    }
}
