package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class FoldedReportTest {
    @TempDir
    private Path directory;

    private String report(SessionImage image) throws IOException {
        StringBuilder out = new StringBuilder();
        FoldedReport.write(Profiles.read(image, directory).paths(), out);
        return out.toString();
    }

    @Test
    void shouldWriteThePathsOfSamples() throws IOException {
        assertThat(report(SessionImage.pathsSample())).isEqualTo("""
                main;work 6000
                main;work;leaf 1200
                main;work;rec 800
                main;leaf 500
                work 1500
                work;leaf 300
                work;rec 200
                """);
    }

    @Test
    void shouldKeepRecursion() throws IOException {
        SessionImage image = SessionImage.callersSample();
        long samples = image.cpuSamples(3, 0, 0, 0, 0, 0, 3);
        image.path(samples, 3, SessionImage.frameOf(3), SessionImage.frameOf(3), SessionImage.frameOf(3));

        assertThat(report(image)).isEqualTo("rec;rec;rec 3000000\n");
    }

    @Test
    void shouldWriteNothingWithoutSamples() throws IOException {
        assertThat(report(SessionImage.callersSample())).isEmpty();
    }

    @Test
    void shouldKeepFramesAndLinesApartWhateverNamesHold() throws IOException {
        SessionImage image = new SessionImage();
        image.function("a;b\nc 7");
        image.path(image.cpuSamples(5, 0, 0, 5), 5, SessionImage.frameOf(0));

        assertThat(report(image)).isEqualTo("a,b?c 7 5000000\n");
    }
}
