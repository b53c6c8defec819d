package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;

class CallgrindReportTest {
    @TempDir
    private Path directory;

    private String report(SessionImage image) throws IOException {
        StringBuilder out = new StringBuilder();
        CallgrindReport.write(Profiles.read(image, directory), out);
        return out.toString();
    }

    @Test
    void shouldWriteOwnTimeByFunctionAndTimeBelowByCall() throws IOException {
        assertThat(report(SessionImage.pathsSample())).startsWith("""
                # callgrind format
                version: 1
                creator: mdl
                pid: 4711
                cmd: /opt/app/bin/app
                positions: line
                events: ns
                summary: 10500

                ob=/opt/app/bin/app
                fl=/src/main.c
                fn=main
                10 0
                cob=/opt/app/bin/app
                cfi=/src/work.c
                cfn=work
                calls=0 10
                10 8000
                cob=/opt/app/bin/app
                cfi=/src/leaf.c
                cfn=leaf
                calls=0 10
                10 500

                ob=/opt/app/bin/app
                fl=/src/work.c
                fn=work
                10 7500
                """);
    }

    @Test
    void shouldCountARecursivePathOnce() throws IOException {
        SessionImage image = SessionImage.callersSample();
        long samples = image.cpuSamples(3, 0, 0, 0, 0, 0, 3);
        image.path(samples, 3, SessionImage.frameOf(3), SessionImage.frameOf(3), SessionImage.frameOf(3));

        assertThat(report(image)).contains("summary: 3000000").containsOnlyOnce("calls=0");
    }

    @Test
    void shouldHaveNoFunctionWithoutSamples() throws IOException {
        assertThat(report(SessionImage.callersSample())).contains("summary: 0").doesNotContain("fn=");
    }

    @Test
    void shouldKeepLinesApartWhateverNamesHold() throws IOException {
        SessionImage image = new SessionImage();
        image.function("a\nfn=b");
        image.path(image.cpuSamples(5, 0, 0, 5), 5, SessionImage.frameOf(0));

        assertThat(report(image)).contains("fn=a?fn=b\n").containsOnlyOnce("\nfn=");
    }
}
