package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

/// What prevents an attach, by the data of this process.
class TargetProcessTest {
    private static final String LIBC = "/usr/lib/libc.so.6";

    @TempDir
    private Path directory;

    private List<String> objections(Map<String, String> status, List<String> images, int elfClass) throws Exception {
        Path library = Files.createFile(directory.resolve("library"));
        int pid = (int) ProcessHandle.current().pid();
        return new TargetProcess(pid, status, images, Map.of(), elfClass)
                .objections(library).stream()
                        .map(CommandFailure::getMessage)
                        .map(String::valueOf)
                        .toList();
    }

    @Test
    void shouldFindNoneInAnOrdinaryProcess() throws Exception {
        assertThat(objections(Map.of("State", "S (sleeping)"), List.of(LIBC), 2))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        State             | T (stopped) | is stopped
        TracerPid         | 7           | is traced by process 7
        x86_Thread_features | shstk     | has shadow stacks
        """)
    void shouldFindThoseOfItsState(String name, String value, String objection) throws Exception {
        assertThat(objections(Map.of(name, value), List.of(LIBC), 2))
                .singleElement()
                .asString()
                .contains(objection);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /bin/busybox          | 2 | is statically linked
        /lib/ld-musl-x86.so.1 | 2 | is linked with musl
        /lib/libc-2.31.so     | 2 | has a glibc older than 2.34
        /lib/libc.so.6        | 1 | is no program of 64 bits
        """)
    void shouldFindThoseOfItsImages(String image, int elfClass, String objection) throws Exception {
        assertThat(objections(Map.of(), List.of(image), elfClass))
                .singleElement()
                .asString()
                .contains(objection);
    }

    @Test
    void shouldFindSeveral() throws Exception {
        assertThat(objections(
                        Map.of("State", "T (stopped)"), List.of(LIBC, "/lib/libjvm.so", "/usr/lib/libasan.so.8"), 2))
                .hasSize(3);
        assertThat(new TargetProcess(1, Map.of(), List.of("/opt/libmdlagent.so"), Map.of(), 2)
                        .objections(directory.resolve("none")))
                .singleElement()
                .extracting(CommandFailure::getMessage)
                .asString()
                .contains("has the agent already");
    }
}
