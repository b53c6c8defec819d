package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// What is found out about a program's file is kept for its next start.
class KeptFactsIT {
    private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000);

    @TempDir
    Path directory;

    private Path program;
    private int starts;

    @BeforeEach
    void compile() throws Exception {
        program = Dist.compile(directory, "waiting");
    }

    /// How many functions and sites it has.
    private String start(String options) throws Exception {
        Path session = directory.resolve("session" + starts++);
        Map<String, String> environment =
                new HashMap<>(Dist.preload("startDelayMillis=0,session=" + session + options));
        environment.put("XDG_STATE_HOME", directory.resolve("state").toString());
        ProcessBuilder builder = new ProcessBuilder(
                program.toString(), directory.resolve("done" + starts).toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            Dist.await("the session", () -> log(session).contains(" armed after "));
            Dist.awaitLook(session);
        } finally {
            process.destroyForcibly().waitFor();
        }
        String log = log(session);
        int armed = log.indexOf(" armed after ");
        return log.substring(log.lastIndexOf("agent: ", armed), armed);
    }

    private static String log(Path session) throws IOException {
        Path log = session.resolve("agent.log");
        return Files.exists(log) ? Files.readString(log) : "";
    }

    private Path kept() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("state/mdl/images"))) {
            List<Path> all = files.toList();
            assertThat(all).hasSize(1);
            return all.getFirst();
        }
    }

    @Test
    void shouldKeepFactsAndFindTheSameWithThem() throws Exception {
        String first = start("");
        Path kept = kept();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(kept)))
                .isEqualTo("rw-------");
        Files.setLastModifiedTime(kept, LONG_AGO);

        assertThat(start("")).isEqualTo(first);
        assertThat(Files.getLastModifiedTime(kept)).isEqualTo(LONG_AGO); // nothing new was found
    }

    @Test
    void shouldReplaceDamagedFacts() throws Exception {
        String first = start("");
        Path kept = kept();
        byte[] good = Files.readAllBytes(kept);
        byte[] bad = good.clone();
        bad[bad.length / 2] ^= 1;
        Files.write(kept, bad);

        assertThat(start("")).isEqualTo(first);
        assertThat(Files.readAllBytes(kept)).isEqualTo(good);
    }

    @Test
    void shouldDoWithoutADirectoryForThem() throws Exception {
        String first = start("");
        Path images = directory.resolve("state/mdl/images");
        Files.delete(kept());
        Files.delete(images);
        Files.createFile(images); // as where there is no room

        assertThat(start("")).isEqualTo(first);
        assertThat(images).isEmptyFile();
    }
}
