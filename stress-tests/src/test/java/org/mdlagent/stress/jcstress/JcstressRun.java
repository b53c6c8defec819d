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
import org.openjdk.jcstress.Main;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

/// Runs litmus tests of this package, each in its own JVM. The results stay in a directory below `target`.
final class JcstressRun {
    /// Broken protocols, to prove that the tests detect defects.
    static final String EXHIBIT = "Exhibit";

    private static final Path HARNESS = Path.of("../native-shim/target/cmake/libmdl_harness.so");

    private final Path directory;

    /// @param name of the directory
    JcstressRun(String name) {
        directory = Path.of("target", name).toAbsolutePath();
    }

    /// @param tests  a regular expression that is found in their names
    /// @param millis for each
    Collection<TestResult> run(String tests, long millis)
            throws IOException, InterruptedException, ClassNotFoundException {
        assertThat(HARNESS).exists();
        clear();
        Process process = new ProcessBuilder(command(tests, millis))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("console.log").toFile())
                .start();
        try {
            process.waitFor();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return read();
    }

    private void clear() throws IOException {
        Files.createDirectories(directory);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private List<String> command(String tests, long millis) throws IOException {
        String nativeAccess = "--enable-native-access=ALL-UNNAMED";
        String accessor = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED";
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                nativeAccess,
                accessor,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "-t",
                tests,
                "-r",
                directory.toString(),
                "-f",
                "1",
                "-iters",
                "1",
                "-time",
                Long.toString(millis),
                // Only the JVM's default compilation mode; no affinity, because there may be only two processors.
                "-sc",
                "false",
                "-af",
                "NONE",
                // Actors synchronise after every other state, for more collisions. The product must stay below the
                // capacity of PatchedCode and others.
                "-strideSize",
                "2",
                "-strideCount",
                "256",
                "-jvmArgs",
                nativeAccess,
                "-jvmArgs",
                accessor,
                "-jvmArgs",
                "-Dmdl.harness=" + HARNESS.toRealPath());
    }

    private Collection<TestResult> read() throws IOException, ClassNotFoundException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "jcstress-results-*")) {
            found.forEach(files::add);
        }
        assertThat(files).as("files of results").hasSize(1);
        InProcessCollector collector = new InProcessCollector();
        DiskReadCollector reader = new DiskReadCollector(files.getFirst().toString(), collector);
        reader.dump();
        reader.close();
        return collector.getTestResults();
    }

    /// Forbidden outcomes, with their counts.
    static String forbidden(TestResult result) {
        return result.grading().gradingResults.values().stream()
                .filter(graded -> graded.expect == Expect.FORBIDDEN && graded.count > 0)
                .map(graded -> graded.count + " times " + graded.id)
                .collect(joining("; "));
    }
}
