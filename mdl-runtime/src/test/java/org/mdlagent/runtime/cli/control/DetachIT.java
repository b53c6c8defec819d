package org.mdlagent.runtime.cli.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl detach` takes the probes out of a running program, `mdl attach` puts them back.
class DetachIT {
    private static final int CALLS = 1000;
    private static final int THREADS = 5;
    private static final int ENDED = 7;
    private static final int CYCLES = 1000;

    @TempDir
    Path directory;

    /// The program with the agent.
    private record Probed(Path program, Process process, Writer input, BufferedReader output, Path session)
            implements AutoCloseable {
        String ask(String line) throws IOException {
            input.write(line + "\n");
            input.flush();
            return output.readLine();
        }

        void work() throws IOException {
            assertThat(ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));
        }

        int end() throws IOException, InterruptedException {
            input.write("q\n");
            input.flush();
            return process.waitFor();
        }

        String pid() {
            return Long.toString(process.pid());
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private Probed start(String flags, String options) throws Exception {
        Path program = Dist.compile(directory, "attached", flags);
        Path session = directory.resolve("session");
        Process process = Dist.start(List.of(program.toString()), options + ",session=" + session);
        Probed probed = new Probed(program, process, process.outputWriter(), process.inputReader(), session);
        assertThat(probed.output.readLine()).isEqualTo("ready");
        Dist.await("the agent", () -> isAttached(session));
        return probed;
    }

    private static boolean isAttached(Path session) {
        try {
            return Dist.ask(session, "agent attach").contains("the agent is attached");
        } catch (IOException e) {
            return false; // There is no socket yet.
        }
    }

    private Dist.Outcome mdl(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(words));
        return Dist.run(directory, Map.of(), command);
    }

    /// One line of `/proc/PID/maps`.
    private record Region(long start, long end, boolean executable, long offset, String path) {
        static Region of(String line) {
            String[] fields = line.split(" +", 6);
            String[] range = fields[0].split("-");
            return new Region(
                    Long.parseUnsignedLong(range[0], 16),
                    Long.parseUnsignedLong(range[1], 16),
                    fields[1].contains("x"),
                    Long.parseUnsignedLong(fields[2], 16),
                    fields.length > 5 ? fields[5] : "");
        }
    }

    private static List<Region> regions(Probed probed) throws IOException {
        return Files.readAllLines(Path.of("/proc", probed.pid(), "maps")).stream()
                .map(Region::of)
                .toList();
    }

    /// Whether all code between the first and the last byte of the program is its file's.
    private static boolean executesItsFile(Probed probed) throws IOException {
        List<Region> all = regions(probed);
        String file = probed.program.toRealPath().toString();
        long first = all.stream()
                .filter(region -> region.path.equals(file))
                .findFirst()
                .orElseThrow()
                .start;
        long last = all.stream()
                .filter(region -> region.path.equals(file))
                .reduce((a, b) -> b)
                .orElseThrow()
                .end;
        byte[] bytes = Files.readAllBytes(probed.program);
        try (RandomAccessFile memory = new RandomAccessFile("/proc/" + probed.pid() + "/mem", "r")) {
            for (Region region : all) {
                if (!region.executable || region.start < first || region.end > last) {
                    continue;
                }
                if (!region.path.equals(file)) {
                    return false;
                }
                byte[] text = new byte[(int) Math.min(region.end - region.start, bytes.length - region.offset)];
                memory.seek(region.start);
                memory.readFully(text);
                int from = (int) region.offset;
                if (!Arrays.equals(text, 0, text.length, bytes, from, from + text.length)) {
                    return false;
                }
            }
        }
        return true;
    }

    @ParameterizedTest
    @ValueSource(strings = {"-fpatchable-function-entry=5", "-finstrument-functions", "-O2"})
    void shouldExecuteTheFilesTextUntilItIsAttachedAgain(String flags) throws Exception {
        try (Probed probed = start(flags, "exact")) {
            probed.work();
            assertThat(executesItsFile(probed)).isFalse();

            Dist.Outcome detached = mdl("detach", probed.session.toString());

            assertThat(detached.status()).as(detached.err()).isZero();
            assertThat(executesItsFile(probed)).isTrue();
            probed.work();
            assertThat(probed.ask("f " + CALLS)).isEqualTo("0");
            Dist.Outcome attached = mdl("attach", "-o", probed.session.toString(), probed.pid());
            assertThat(attached.status()).as(attached.err()).isZero();
            assertThat(attached.text()).contains("the probes are back");
            assertThat(executesItsFile(probed)).isFalse();
            probed.work();
            assertThat(probed.end()).isEqualTo(ENDED);
            Map<String, Long> calls = Dist.calls(Dist.report(directory, probed.session));
            assertThat(calls).containsEntry("work", 2L * CALLS * THREADS).containsEntry("work_often", 2L * THREADS);
        }
    }

    @Test
    void shouldGoOnSampling() throws Exception {
        try (Probed probed = start("-O2", "")) {
            probed.work();
            assertThat(mdl("detach", probed.session.toString()).status()).isZero();
            probed.work();
            assertThat(mdl("attach", "-o", probed.session.toString(), probed.pid())
                            .status())
                    .isZero();
            probed.work();
            assertThat(probed.end()).isEqualTo(ENDED);
            assertThat(Dist.calls(Dist.report(directory, probed.session))).containsKey("work");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLeaveNoThreadForGood(boolean isDetached) throws Exception {
        try (Probed probed = start("-O2", "exact")) {
            probed.work();
            assertThat(threads(probed)).isGreaterThan(THREADS);
            if (isDetached) {
                assertThat(mdl("detach", probed.session.toString()).status()).isZero();
            }

            Dist.Outcome left = mdl("detach", "--for-good", probed.session.toString());

            assertThat(left.status()).as(left.err()).isZero();
            assertThat(threads(probed)).isEqualTo(THREADS);
            assertThat(executesItsFile(probed)).isTrue();
            probed.work();
            assertThat(probed.ask("s")).isEqualTo("caught");
            assertThat(probed.ask("l")).isEqualTo("opened");
            assertThat(mdl("attach", probed.pid()).err()).contains("or has had it");
            assertThat(probed.end()).isEqualTo(ENDED);
            assertThat(Dist.calls(Dist.report(directory, probed.session)))
                    .containsEntry("work", (long) CALLS * THREADS);
        }
    }

    private static long threads(Probed probed) throws IOException {
        try (var tasks = Files.list(Path.of("/proc", probed.pid(), "task"))) {
            return tasks.count();
        }
    }

    @Test
    void shouldRefuseRequestsMeanwhile() throws Exception {
        try (Probed probed = start("-O2", "exact")) {
            assertThat(Dist.ask(probed.session, "agent attach")).contains("the agent is attached");
            assertThat(mdl("detach", probed.session.toString()).status()).isZero();
            assertThat(mdl("detach", probed.session.toString()).err()).contains("detached already");
            assertThat(Dist.ask(probed.session, "probes off work")).contains("mdl attach PID");
            assertThat(probed.end()).isEqualTo(ENDED);
        }
    }

    /// The file's code would not be the program's.
    @Test
    void shouldStayWhenAFileHasBeenReplaced() throws Exception {
        try (Probed probed = start("-O2", "exact,include=libz*!*")) {
            assertThat(probed.ask("l")).isEqualTo("opened");
            Path program = probed.program;
            Files.move(program, program.resolveSibling("moved"));
            Files.writeString(program, "another");

            // The program itself is found whatever its name is.
            assertThat(mdl("detach", probed.session.toString()).status()).isZero();
            assertThat(mdl("attach", "-o", probed.session.toString(), probed.pid())
                            .status())
                    .isZero();
            probed.work();
            assertThat(probed.end()).isEqualTo(ENDED);
        }
    }

    @Test
    void shouldFollowLibrariesThatAreOpenedAndClosedMeanwhile() throws Exception {
        try (Probed probed = start("-O2", "exact,include=libz*!*,include=attached!*")) {
            for (String first : List.of("opened", "closed", "opened")) {
                assertThat(probed.ask("l")).isEqualTo(first);
                assertThat(mdl("detach", probed.session.toString()).status()).isZero();
                assertThat(probed.ask("l")).isEqualTo(first.equals("opened") ? "closed" : "opened");
                assertThat(mdl("attach", "-o", probed.session.toString(), probed.pid())
                                .status())
                        .isZero();
                assertThat(probed.ask("l")).isEqualTo(first);
                probed.work();
            }
            assertThat(probed.end()).isEqualTo(ENDED);
        }
    }

    @Tag("soak")
    @Test
    void shouldBeAsBeforeAfterManyCycles() throws Exception {
        try (Probed probed = start("-O2", "exact")) {
            List<Object> before = List.of();
            for (int i = 0; i < CYCLES; i++) {
                assertThat(Dist.ask(probed.session, "agent detach")).startsWith("ok");
                assertThat(executesItsFile(probed)).isTrue();
                probed.work();
                assertThat(probed.ask("f " + CALLS)).isEqualTo("0");
                if (i == CYCLES / 10) {
                    before = state(probed);
                }
                if (i < CYCLES - 1) {
                    assertThat(Dist.ask(probed.session, "agent attach")).startsWith("ok");
                    probed.work();
                }
            }
            assertThat(state(probed)).isEqualTo(before);
            assertThat(probed.end()).isEqualTo(ENDED);
            assertThat(Dist.calls(Dist.report(directory, probed.session)))
                    .containsEntry("work", (CYCLES - 1L) * CALLS * THREADS);
        }
    }

    /// Mapped regions, descriptors, threads, and handlers and masks of the first thread.
    private static List<Object> state(Probed probed) throws IOException {
        Path proc = Path.of("/proc", probed.pid());
        List<String> signals = Files.readAllLines(proc.resolve("status")).stream()
                .filter(line -> line.matches("(Sig(Blk|Ign|Cgt)|Threads).*"))
                .toList();
        try (var descriptors = Files.list(proc.resolve("fd"))) {
            return List.of(regions(probed).size(), descriptors.count(), signals);
        }
    }
}
