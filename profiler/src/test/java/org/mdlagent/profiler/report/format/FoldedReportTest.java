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
        FoldedReport.write(Profiles.read(image, directory), out);
        return out.toString();
    }

    /// `work` takes 10,000 ns, of which 8,000 for `main`; 25 % of it are spent in what it calls.
    @Test
    void shouldDivideTheTimeOfAFunctionAmongItsCallers() throws IOException {
        assertThat(report(SessionImage.callersSample())).isEqualTo("""
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
    void shouldNotLoseTimeInCycles() throws IOException {
        SessionImage image = new SessionImage();
        int ping = image.function("ping");
        int pong = image.function("pong");
        image.drainedRow(ping, 600, 400);
        image.edge(ping, -1, 1, 600);
        image.edge(ping, pong, 1, 400);
        image.drainedRow(pong, 500);
        image.edge(pong, ping, 1, 500);
        image.drainedRow(image.function("nothing"), 0);

        assertThat(report(image)).isEqualTo("""
                ping 300
                ping;pong 300
                """);
    }

    @Test
    void shouldGiveWhatIsTooLittleToTheCaller() throws IOException {
        SessionImage image = new SessionImage();
        int whole = image.function("whole");
        int little = image.function("little");
        image.drainedRow(whole, 1_000_000);
        image.edge(whole, -1, 1, 1_000_000);
        image.drainedRow(little, 99);
        image.edge(little, whole, 1, 99);
        image.drainedRow(image.function("nothing"), 0);

        assertThat(report(image)).isEqualTo("whole 1000000\n");
    }

    @Test
    void shouldKeepFramesAndLinesApartWhateverNamesHold() throws IOException {
        SessionImage image = new SessionImage();
        image.drainedRow(image.function("a;b\nc 7"), 50);
        image.edge(0, -1, 1, 50);

        assertThat(report(image)).isEqualTo("a,b?c 7 50\n");
    }
}
