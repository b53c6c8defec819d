package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// What is read and written counts for the file by whose name it was opened, from its first use to the program's end.
class OpenedFilesIT {
    private static final int OPERATIONS = 3 + 2 + 5 + 4 + 7 + 6 + 8 + 2 * 9 + 1 + 10 + 100 + 1;

    @TempDir
    Path directory;

    private Path session;

    private Process start(String metrics) throws Exception {
        Path program = Dist.compile(directory, "opened_files", "-pthread", "-fpatchable-function-entry=5");
        Files.createDirectory(directory.resolve("files"));
        session = directory.resolve("session");
        return Dist.start(
                List.of(program.toString(), directory.resolve("files").toString()),
                "wait,session=" + session + "," + metrics);
    }

    private Map<String, Double> values() throws Exception {
        return Dist.metrics(directory, session);
    }

    private static double sum(Map<String, Double> values, String... beginnings) {
        return values.entrySet().stream()
                .filter(value -> List.of(beginnings).stream().anyMatch(value.getKey()::startsWith))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    @Test
    void shouldCountForEachFileByItsName() throws Exception {
        Process process = start("metric=io_ops@/File/*,metric=io_bytes@/File/*,metric=io_ops,metric=io_wait@/File/*");
        String port = process.inputReader().readLine();
        assertThat(process.waitFor()).isZero();

        Map<String, Double> values = values();

        String files = "io_ops@/File" + directory.resolve("files").toRealPath();
        assertThat(values)
                .containsEntry(files + "/3 and 2 by a duplicate, 1 by a child", 6.0)
                .containsEntry(files + "/5, with the number of another", 5.0)
                .containsEntry(files + "/4, of a stream", 4.0)
                .containsEntry(files + "/sub/7", 7.0)
                .containsEntry("io_ops@/File/socket:127.0.0.1:" + port, 9.0)
                .containsEntry("io_ops@/File/socket:127.0.0.1", 9.0)
                .containsEntry(files + "/10, of a child", 10.0)
                .containsEntry(files + "/100, of two threads", 100.0)
                .containsEntry(files + "/1, and the end", 1.0)
                .containsEntry("io_ops", (double) OPERATIONS)
                .containsEntry(files.replace("io_ops", "io_bytes") + "/100, of two threads", 100.0);
        // What the program does not tell is named by the agent, if it is there long enough.
        assertThat(sum(values, "io_ops@/File/(other)", "io_ops@/File/pipe:", files + "/6"))
                .isEqualTo(8.0 + 6.0);
        assertThat(sum(values, "io_ops@/File/")).isEqualTo(OPERATIONS);
        assertThat(sum(values, "io_wait@/File/")).isPositive();
        assertThat(values.keySet()).noneMatch(name -> name.contains("/#"));
    }

    @Test
    void shouldCountForOneFile() throws Exception {
        String file = "/File" + directory.toRealPath() + "/files/sub/7";
        Process process = start("metric=io_ops@" + file + ",metric=io_ops@/File/(other)");
        assertThat(process.waitFor()).isZero();

        assertThat(values()).containsOnlyKeys("io_ops@" + file, "io_ops@/File/(other)");
        assertThat(values()).containsEntry("io_ops@" + file, 7.0);
        assertThat(values()).containsEntry("io_ops@/File/(other)", OPERATIONS - 7.0);
    }
}
