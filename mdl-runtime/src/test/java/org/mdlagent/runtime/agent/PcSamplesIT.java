package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Where a program spends its CPU time, as the kernel's clock samples it: in functions that no call was seen of, and in
/// code without probes. Samples are awaited, and how they fall is left to luck, so it does not matter how busy the
/// machine
/// is.
class PcSamplesIT {
    private static final int SAMPLES = 60;

    @TempDir
    Path directory;

    private Path session;
    private Process process;

    private ProcessBuilder builder(String options, String... command) {
        session = directory.resolve("session");
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(Dist.preload(options + "session=" + session));
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    private String program() throws Exception {
        return Dist.compile(directory, "burns").toString();
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    /// The report once it has this number of samples.
    private JsonNode await(int samples) throws Exception {
        return await(report -> report.path("cpu").path("samples").asLong() >= samples);
    }

    private JsonNode await(Predicate<JsonNode> enough) throws Exception {
        List<JsonNode> last = new ArrayList<>();
        Dist.await("samples of CPU time", () -> {
            JsonNode report = Dist.reportOrNull(directory, session);
            assumeThat(log()).doesNotContain("CPU time is not sampled");
            if (report != null && enough.test(report)) {
                last.add(report);
            }
            return !last.isEmpty();
        });
        return last.getFirst();
    }

    private String log() throws Exception {
        Path log = session.resolve("agent.log");
        return Files.exists(log) ? Files.readString(log) : "";
    }

    private static double partOf(JsonNode function, JsonNode report) {
        JsonNode cpu = report.get("cpu");
        return function.path("cpuNanos").asDouble()
                / cpu.get("periodNanos").asDouble()
                / cpu.get("samples").asDouble();
    }

    private static double partOfImage(String name, JsonNode report) {
        JsonNode cpu = report.get("cpu");
        for (JsonNode image : cpu.get("notProbed")) {
            if (image.get("image").asText().contains(name)) {
                return image.get("samples").asDouble() / cpu.get("samples").asDouble();
            }
        }
        return 0;
    }

    /// Which part either has is a matter of the processor, and of luck: that each has some is not.
    private static boolean isSampledInBoth(JsonNode report) {
        return report.at("/cpu/samples").asLong() >= SAMPLES
                && Dist.function(report, "spin").has("cpuNanos")
                && partOfImage("libc.so", report) > 0;
    }

    /// Ends the program: nothing changes then while it is read. Each sample is counted once; of a function with less
    /// than
    /// four, no time is told.
    private void assertEachSampleHasOnePlace() throws Exception {
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();

        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.function(report, "idle").has("cpuNanos")).isFalse();
        assertThat(report.at("/cpu/elsewhere").asLong()).isZero();
        long all = report.at("/cpu/samples").asLong();
        assertThat(placed(report)).isBetween(all - 3L * report.get("functions").size(), all);
    }

    private static long placed(JsonNode report) {
        JsonNode cpu = report.get("cpu");
        long samples = cpu.get("inProbes").asLong() + cpu.get("elsewhere").asLong();
        for (JsonNode image : cpu.get("notProbed")) {
            samples += image.get("samples").asLong();
        }
        for (JsonNode function : report.get("functions")) {
            samples +=
                    function.path("cpuNanos").asLong() / cpu.get("periodNanos").asLong();
        }
        return samples;
    }

    @Test
    void shouldFindAFunctionThatHasBegunBeforeItHadAProbe() throws Exception {
        process = builder("", program()).start();

        JsonNode report = await(PcSamplesIT::isSampledInBoth);

        assertThat(Dist.function(report, "spin").get("calls").asLong()).isZero();
        assertEachSampleHasOnePlace();
    }

    /// There are enough samples that an error of a hundredth stays far from the bounds.
    @Tag("timing")
    @Test
    void shouldTellWhichPartOfTheTimeEachHas() throws Exception {
        process = builder("", program()).start();

        JsonNode report = await(10 * SAMPLES);

        assertThat(partOf(Dist.function(report, "spin"), report)).isBetween(0.3, 0.95);
        assertThat(partOfImage("libc.so", report)).isBetween(0.05, 0.7);
    }

    @Test
    void shouldShowItInTheTable() throws Exception {
        process = builder("", program()).start();
        await(PcSamplesIT::isSampledInBoth);

        String table = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session.toString()))
                .text();

        assertThat(table.lines().filter(line -> line.startsWith("spin ")))
                .singleElement()
                .asString()
                .containsPattern("%");
        assertThat(table).containsPattern("not probed: [0-9.]+ % of the CPU time: libc\\.so");
    }

    @Test
    void shouldSampleForkedProcesses() throws Exception {
        process = builder("wait,", program(), "forks").start();

        await(PcSamplesIT::isSampledInBoth);

        assertEachSampleHasOnePlace();
    }

    /// The first second is sampled whatever they do.
    @Test
    void shouldRarelySampleProcessesThatOftenWait() throws Exception {
        process = builder("wait,", Dist.compile(directory, "alternates").toString())
                .start();

        await(sampled -> sampled.path("cpu").path("weight").asDouble() >= 1.5
                && Dist.function(sampled, "work").has("cpuNanos"));

        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();
    }

    /// A shell's commands have the ids of its processes, and their code where the shell has none.
    @Test
    void shouldNotSampleProgramsThatProcessesExecute() throws Exception {
        String burner = Dist.compile(directory, "burns_once").toString();
        process = builder("wait,", "bash", "-c", "for i in $(seq 4); do " + burner + "; done; true")
                .start();

        assertThat(process.waitFor()).isZero();

        JsonNode cpu = Dist.report(directory, session).path("cpu");
        assertThat(cpu.path("elsewhere").asLong()).isLessThan(20);
    }

    /// liblzma does the work, and nobody has asked for probes there.
    @Tag("timing")
    @Test
    void shouldTellThatARealProgramsLibraryHasTheTime() throws Exception {
        process = builder("", "xz", "-c")
                .redirectInput(new File("/dev/zero"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();

        assertThat(partOfImage("liblzma", await(SAMPLES))).isGreaterThan(0.8);
    }

    @Test
    void shouldSayWhyThereAreNone() throws Exception {
        String confined = Dist.compile(directory, "confined").toString();
        process = builder("", confined, program()).start();

        Dist.await("the reason", () -> log().contains("CPU time is not sampled: perf_event_open is forbidden here"));
        Dist.awaitLook(session);
        assertThat(Dist.report(directory, session).has("cpu")).isFalse();
    }
}
