package org.mdlagent.stress.jcstress;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.openjdk.jcstress.Main;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.TestList;

/// Runs all litmus tests of this package, each in a JVM of its own, and judges what they have seen. About a minute;
/// `-Dtorture.minutes=N` makes it N times as long. The results stay in `target/jcstress`.
class JcstressIT {
    private static final int LITMUS_TESTS = 12;
    private static final int EXHIBITS = 6;
    private static final String EXHIBIT = "Exhibit";

    private static final int TEST_MILLIS = 2000;

    /// Fewer are no test. There are hundreds of thousands, and far less on a machine that is busy with other things,
    /// where each meeting of the actors may cost a slice of time.
    private static final int SAMPLES_MIN = 200;

    private static final Path HARNESS = Path.of("../native-shim/target/cmake/libmdl_harness.so");
    private static final Path DIRECTORY = Path.of("target/jcstress").toAbsolutePath();

    private static Collection<TestResult> results = List.of();

    @BeforeAll
    static void runAll() throws IOException, InterruptedException, ClassNotFoundException {
        assertThat(HARNESS).exists();
        clear();
        double minutes = Double.parseDouble(System.getProperty("torture.minutes", "1"));
        Process process = new ProcessBuilder(command(minutes))
                .directory(DIRECTORY.toFile())
                .redirectErrorStream(true)
                .redirectOutput(DIRECTORY.resolve("console.log").toFile())
                .start();
        try {
            assertThat(process.waitFor(10 + Math.round(3 * minutes), TimeUnit.MINUTES))
                    .as("jcstress ends")
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        results = read();
    }

    private static void clear() throws IOException {
        Files.createDirectories(DIRECTORY);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(DIRECTORY)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private static List<String> command(double minutes) throws IOException {
        String nativeAccess = "--enable-native-access=ALL-UNNAMED";
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                nativeAccess,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "-r",
                DIRECTORY.toString(),
                "-f",
                "1",
                "-iters",
                "1",
                "-time",
                String.valueOf(Math.round(minutes * TEST_MILLIS)),
                // One mode of compilation, the JVM's own, for each; no affinity: there may be but two processors.
                "-sc",
                "false",
                "-af",
                "NONE",
                // Actors meet again after every other state, for more of them collide then. The product is less than
                // PatchedCode and others have room for.
                "-strideSize",
                "2",
                "-strideCount",
                "256",
                "-jvmArgs",
                nativeAccess,
                "-jvmArgs",
                "-Dmdl.harness=" + HARNESS.toRealPath());
    }

    private static Collection<TestResult> read() throws IOException, ClassNotFoundException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(DIRECTORY, "jcstress-results-*")) {
            found.forEach(files::add);
        }
        assertThat(files).as("files of results").hasSize(1);
        InProcessCollector collector = new InProcessCollector();
        DiskReadCollector reader = new DiskReadCollector(files.getFirst().toString(), collector);
        reader.dump();
        reader.close();
        return collector.getTestResults();
    }

    @Test
    void shouldRunEveryTestForMany() {
        assertThat(results)
                .extracting(TestResult::getName)
                .containsExactlyInAnyOrderElementsOf(TestList.tests())
                .hasSize(LITMUS_TESTS + EXHIBITS);
        assertThat(results).allSatisfy(result -> {
            assertThat(result.status()).as(result.getName()).isEqualTo(Status.NORMAL);
            assertThat(result.getTotalCount()).as(result.getName()).isGreaterThan(SAMPLES_MIN);
        });
    }

    @Test
    void shouldSeeNothingForbidden() {
        List<TestResult> litmus = results.stream()
                .filter(result -> !result.getName().endsWith(EXHIBIT))
                .toList();

        assertThat(litmus).hasSize(LITMUS_TESTS);
        assertThat(litmus)
                .allSatisfy(result ->
                        assertThat(forbidden(result)).as(result.getName()).isEmpty());
    }

    @Test
    void shouldSeeWhatIsForbiddenInEveryExhibit() {
        List<TestResult> exhibits = results.stream()
                .filter(result -> result.getName().endsWith(EXHIBIT))
                .toList();

        assertThat(exhibits).hasSize(EXHIBITS);
        assertThat(exhibits)
                .allSatisfy(result ->
                        assertThat(forbidden(result)).as(result.getName()).isNotEmpty());
    }

    /// The forbidden outcomes that were seen, and how often.
    private static String forbidden(TestResult result) {
        return result.grading().gradingResults.values().stream()
                .filter(graded -> graded.expect == Expect.FORBIDDEN && graded.count > 0)
                .map(graded -> graded.count + " times " + graded.id)
                .collect(joining("; "));
    }
}
