package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.cli.terminal.Posix;

/// What is found out about a program's file is kept for its next start.
class KeptFactsIT {
    private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000);

    private static final String BASH = "/bin/bash";

    /// Waits for a line of its input.
    private static final String[] BASH_WAITS = {BASH, "-c", "read line"};

    @TempDir
    Path directory;

    private Path program;
    private int starts;

    @BeforeEach
    void compile() throws Exception {
        program = Dist.compile(directory, "waiting");
    }

    /// How many functions and sites it has.
    private String start(String... command) throws Exception {
        Path session = directory.resolve("session" + starts++);
        Map<String, String> environment = new HashMap<>(Dist.preload("startDelayMillis=0,session=" + session));
        environment.put("XDG_STATE_HOME", directory.resolve("state").toString());
        ProcessBuilder builder = new ProcessBuilder(command);
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

    private String start() throws Exception {
        return start(program.toString(), directory.resolve("done" + starts).toString());
    }

    private Dist.Outcome prepare(List<String> before, String... files) throws Exception {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(Dist.mdl(), "prepare"));
        command.addAll(List.of(files));
        return Dist.run(directory, Map.of(), command);
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
        String first = start();
        Path kept = kept();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(kept)))
                .isEqualTo("rw-------");
        Files.setLastModifiedTime(kept, LONG_AGO);

        assertThat(start()).isEqualTo(first);
        assertThat(Files.getLastModifiedTime(kept)).isEqualTo(LONG_AGO); // nothing new was found
    }

    @Test
    void shouldReplaceDamagedFacts() throws Exception {
        String first = start();
        Path kept = kept();
        byte[] good = Files.readAllBytes(kept);
        byte[] bad = good.clone();
        bad[bad.length / 2] ^= 1;
        Files.write(kept, bad);

        assertThat(start()).isEqualTo(first);
        assertThat(Files.readAllBytes(kept)).isEqualTo(good);
    }

    @Test
    void shouldDoWithoutADirectoryForThem() throws Exception {
        String first = start();
        Path images = directory.resolve("state/mdl/images");
        Files.delete(kept());
        Files.delete(images);
        Files.createFile(images); // as where there is no room

        assertThat(start()).isEqualTo(first);
        assertThat(images).isEmptyFile();
    }

    @Test
    void shouldFindBeforehandWhatTheFirstStartOfARealProgramFinds() throws Exception {
        String unprepared = start(BASH_WAITS);
        byte[] found = Files.readAllBytes(kept());
        Files.delete(kept());

        Dist.Outcome prepared = prepare(List.of(), BASH);

        assertThat(prepared.status()).as(prepared.err()).isZero();
        assertThat(prepared.text()).matches("/bin/bash: [0-9,]+ functions are examined\n");
        assertThat(kept()).hasBinaryContent(found);
        Files.setLastModifiedTime(kept(), LONG_AGO);
        assertThat(start(BASH_WAITS)).isEqualTo(unprepared);
        assertThat(Files.getLastModifiedTime(kept())).isEqualTo(LONG_AGO); // nothing new was found
    }

    @Test
    void shouldPrepareTheFilesThatCanBe() throws Exception {
        Path text = Files.writeString(directory.resolve("text"), "no program\n".repeat(10));
        Path absent = directory.resolve("absent");
        Path nameless = Dist.compile(directory, "waiting", "-Wl,--build-id=none");

        Dist.Outcome outcome = prepare(List.of(), absent.toString(), text.toString(), "/", nameless.toString(), BASH);

        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .contains(
                        "mdl: " + absent + " (No such file or directory)",
                        "mdl: " + text + ": expected the magic number of ELF",
                        "mdl: / (Is a directory)",
                        "mdl: nothing can be kept about " + nameless + ": it has no build id");
        assertThat(outcome.text()).startsWith("/bin/bash: ").hasLineCount(1);
        assertThat(kept()).isRegularFile();
    }

    @Test
    void shouldSayWhatItMayNotReadOrWrite() throws Exception {
        List<String> someUser = Posix.effectiveUser() == 0
                ? List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
                : List.of();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assumeThat(prepare(someUser, "--version").status())
                .as("the distribution can be read")
                .isZero();
        Path state = Files.createDirectory(directory.resolve("state"));
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("r-xr-xr-x"));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("---------"));

        Dist.Outcome outcome = prepare(someUser, program.toString(), BASH);

        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.text()).isEmpty();
        assertThat(outcome.err())
                .contains(
                        "mdl: " + program + " (Permission denied)",
                        "mdl: facts about /bin/bash cannot be kept: Permission denied",
                        "set XDG_STATE_HOME");
        assertThat(state).isEmptyDirectory();
    }
}
