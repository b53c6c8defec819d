package org.mdlagent.calibrator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/// What `mdl calibrate` says when there can be no calibration; what it does otherwise shows in the distribution.
class CalibrateCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int calibrate(Path program) {
        return new CommandLine(new CalibrateCommand(program, directory.resolve("tmax.properties")))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute("--quick");
    }

    @Test
    void shouldSayThatItsProgramIsMissing() {
        assertThat(calibrate(directory.resolve("none"))).isEqualTo(1);
        assertThat(err)
                .hasToString(
                        "mdl: " + directory.resolve("none") + " is missing\n" + "     build anew, or install again\n");
        assertThat(out.toString()).isEmpty();
    }

    /// A machine whose unlocked twin does not fail shows nothing, and the file of an earlier calibration stays.
    @Test
    void shouldNotTrustACrashTestThatCannotFail() throws Exception {
        Path program = Files.writeString(directory.resolve("trial"), """
                #!/bin/sh
                case $1 in
                machine) printf 'hypervisor: \\ntsc_hz: 2000000000\\n' ;;
                latency) printf 'ticks 100 1\\ninterrupted 0\\nskewed 0\\n' ;;
                patch) printf 'toggles 9\\nexecutions 9\\ntraps 9\\nwrong 0\\nsignal 0\\n' ;;
                esac
                """);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));

        assertThat(calibrate(program)).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("mdl: unlocked patching did not fail, so that the crash test shows nothing");
        assertThat(directory.resolve("tmax.properties")).doesNotExist();
    }
}
