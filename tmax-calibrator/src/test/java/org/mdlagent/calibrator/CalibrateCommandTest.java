package org.mdlagent.calibrator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import picocli.CommandLine;

/// What `mdl calibrate` says when there can be no calibration; what it does otherwise shows in the distribution.
class CalibrateCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int calibrate(Path program, String... options) {
        List<Path> files = List.of(directory.resolve("tmax.properties"), directory.resolve("machine.properties"));
        List<String> words = new ArrayList<>(List.of("--quick"));
        words.addAll(List.of(options));
        return new CommandLine(new CalibrateCommand(program, files))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(words.toArray(String[]::new));
    }

    private Path trial() throws IOException {
        Path program = Files.writeString(directory.resolve("trial"), """
                #!/bin/sh
                case $1 in
                machine) printf 'hypervisor: \\ntsc_hz: 2000000000\\n' ;;
                latency) printf 'ticks 100 1\\ninterrupted 0\\nskewed 0\\n' ;;
                patch) printf 'toggles 9\\nexecutions 9\\ntraps 9\\nwrong 0\\nsignal 0\\n' ;;
                esac
                """);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return program;
    }

    /// It would fail: see the next test.
    @Test
    void shouldDoNothingWhereTmaxIsKnown() throws Exception {
        Path program = trial();
        Path machine = directory.resolve("machine.properties");
        new Calibration(CpuIdentity.ofProgram(program), "2026-01-01T00:00:00Z", 6144, 4, 3000, 400, 700, 1, 1, 1, 9)
                .write(machine);
        byte[] known = Files.readAllBytes(machine);

        assertThat(calibrate(program, "--if-unknown")).isZero();
        assertThat(calibrate(program, "--if-unknown", "--machine")).isZero();
        assertThat(machine).hasBinaryContent(known);
        assertThat(calibrate(program)).isEqualTo(1);
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
        Path program = trial();

        assertThat(calibrate(program)).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("mdl: unlocked patching did not fail, so that the crash test shows nothing");
        assertThat(directory.resolve("tmax.properties")).doesNotExist();
    }
}
