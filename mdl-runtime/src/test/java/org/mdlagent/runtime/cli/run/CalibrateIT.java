package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.runtime.Dist;

/// `mdl calibrate`, and what the agent makes of it.
class CalibrateIT {
    /// Calibrations that may be disturbed.
    private static final int DISTURBED_MAX = 3;

    @TempDir
    private Path directory;

    private Properties calibrate() throws IOException, InterruptedException {
        long start = System.nanoTime();
        Dist.Outcome outcome = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "calibrate", "--quick"));

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat((System.nanoTime() - start) / 1e9).as("seconds").isLessThan(25);
        assertThat(outcome.err()).as("not a terminal").isEmpty();
        assertThat(outcome.text()).contains("T_max ").endsWith("written to  " + file() + "\n");
        Properties properties = new Properties();
        try (FileInputStream in = new FileInputStream(file().toFile())) {
            properties.load(in);
        }
        return properties;
    }

    private Path file() {
        return directory.resolve("state/mdl/tmax.properties");
    }

    /// @return how it synchronised, and its log
    private Map.Entry<String, String> profile(String sync) throws IOException, InterruptedException {
        Path program = Dist.compile(directory, "threads", "-finstrument-functions");
        Path session = Files.createTempDirectory(directory, "session").resolve("session");
        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(),
                List.of(
                        Dist.mdl(),
                        "run",
                        "--wait",
                        "--sync",
                        sync,
                        "-o",
                        session.toString(),
                        "--",
                        program.toString()));
        assertThat(outcome.status()).as(outcome.err()).isZero();
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).as("profiled").containsKey("leaf");
        return Map.entry(report.get("session").get("sync").asText(), Files.readString(session.resolve("agent.log")));
    }

    @Tag("timing")
    @Test
    void shouldAgreeWithItself() throws Exception {
        Properties first = calibrate();
        Properties second = calibrate();
        // A hypervisor that takes a processor away shows as a latency, in the calibration that it happens in.
        for (int i = 0; i < DISTURBED_MAX && !agree(first, second); i++) {
            first = second;
            second = calibrate();
        }

        assertThat(agree(first, second)).as("%s and %s", first, second).isTrue();
        assertThat(Long.parseLong(second.getProperty("toggles"))).isGreaterThan(1000);
    }

    /// Such as `mdl calibrate` writes where the machine leaves it the time.
    @Test
    void shouldBeUsedByTheAgent() throws Exception {
        CpuIdentity here = CpuIdentity.ofProgram(Dist.root().resolve("lib/mdl-calibrate-trial"));
        new Calibration(here, "2026-01-01T00:00:00Z", 12_288, 4, 3000, 800, 1000, 1, 1, 8192, 16_384).write(file());

        Map.Entry<String, String> calibrated = profile("tmax");
        assertThat(calibrated.getKey()).isEqualTo("tmax");
        assertThat(calibrated.getValue()).contains("sync: T_max, 12288 ticks, of " + file());
        Map.Entry<String, String> strict = profile("strict");
        assertThat(strict.getKey()).isEqualTo("membarrier");
        assertThat(strict.getValue()).contains("sync: membarrier, as asked for");

        String microcode = "microcode=" + here.microcode();
        Files.writeString(file(), Files.readString(file()).replace(microcode, "microcode=0xdeadbeef"));
        Map.Entry<String, String> elsewhere = profile("tmax");
        assertThat(elsewhere.getKey()).isEqualTo("membarrier");
        assertThat(elsewhere.getValue())
                .contains("T_max of another microcode (0xdeadbeef instead of")
                .contains("run mdl calibrate");
    }

    private static boolean agree(Properties first, Properties second) {
        long ticks = Long.parseLong(second.getProperty("tmaxTicks"));
        return ticks >= Long.parseLong(first.getProperty("agreementLowTicks"))
                && ticks <= Long.parseLong(first.getProperty("agreementHighTicks"));
    }

    @Test
    void shouldBeAmongTheCommands() throws Exception {
        Dist.Outcome outcome = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "--help"));

        assertThat(outcome.text()).contains("  calibrate  Measure how soon");
    }

    @Test
    void shouldSayWhyThereIsNoTmaxOfOneProcessor() throws Exception {
        Dist.Outcome outcome =
                Dist.run(directory, Map.of(), List.of("taskset", "-c", "0", Dist.mdl(), "calibrate", "--quick"));

        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .isEqualTo("mdl: only one processor may be used, and T_max is about what others see\n"
                        + "     allow more (taskset, cpuset); the agent goes on using membarrier\n");
        assertThat(outcome.out()).isEmpty();
        assertThat(file()).doesNotExist();
    }

    /// The modules of a JVM that is started as the shim starts it, by its root module alone.
    @Test
    void shouldNotBeLoadedInTargetProcesses() throws Exception {
        assertThat(resolve("org.mdlagent.runtime"))
                .contains("org.mdlagent.fastinst")
                .doesNotContain("org.mdlagent.calibrator", "picocli");
        assertThat(resolve("org.mdlagent.calibrator"))
                .as("can be seen here")
                .contains("org.mdlagent.calibrator", "picocli");
    }

    private String resolve(String root) throws IOException, InterruptedException {
        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(),
                List.of(
                        Dist.root().resolve("runtime/bin/java").toString(),
                        "--add-modules=" + root,
                        "-Djdk.module.main=org.mdlagent.runtime",
                        "--show-module-resolution",
                        "-version"));
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return outcome.text();
    }
}
