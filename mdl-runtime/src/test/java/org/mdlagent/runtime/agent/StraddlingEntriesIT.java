package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Functions whose first five bytes span two cache lines, and so two atomic units on every processor. The
/// program reads its own text while a second thread calls the functions and checks their results.
class StraddlingEntriesIT {
    /// First bytes of the 16 functions.
    private static final String JUMPS = "e9".repeat(16);

    private static final String OWN = "53".repeat(16);
    private static final int CALLS = 1000;

    private static final String SOURCE = """
            #include <pthread.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/wait.h>
            #include <unistd.h>
            enum { FUNCTIONS = 16, CALLS = 1000 };
            typedef long (*function)(void);
            extern const function splits[FUNCTIONS];
            static void check(void) {
                for (int i = 0; i < FUNCTIONS; i++) {
                    if (splits[i]() != i) {
                        abort();
                    }
                }
            }
            static void *call(void *unused) {
                for (;;) {
                    check();
                }
                return unused;
            }
            static void calls(void) {
                for (int i = 0; i < CALLS; i++) {
                    check();
                }
            }
            int main(int n, char **words) {
                char line[80];
                pthread_t other;
                puts("ready");
                fflush(stdout);
                while (fgets(line, sizeof line, stdin)) {
                    if (strcmp(line, "calls\\n") == 0) {
                        calls();
                    } else if (strcmp(line, "thread\\n") == 0) {
                        pthread_create(&other, NULL, call, NULL);
                    } else if (strcmp(line, "fork\\n") == 0) {
                        int status;
                        if (fork() == 0) {
                            calls();
                            exit(0);
                        }
                        wait(&status);
                        if (status != 0) {
                            abort();
                        }
                    }
                    for (int i = 0; i < FUNCTIONS; i++) {
                        printf("%02x", *(const unsigned char *)splits[i]);
                    }
                    puts("");
                    fflush(stdout);
                }
                return 0;
            }
            """;

    @TempDir
    Path directory;

    private @Nullable Process process;
    private Path session = Path.of("");

    @BeforeEach
    void compile() throws Exception {
        StringBuilder assembly = new StringBuilder();
        StringBuilder table = new StringBuilder(".section .data.rel.ro,\"aw\"\n.globl splits\n.p2align 3\nsplits:\n");
        for (int i = 0; i < 16; i++) {
            String name = "split_" + i;
            assembly.append(".p2align 6\n.skip ").append(64 - 1 - i % 4).append('\n');
            assembly.append(".globl ")
                    .append(name)
                    .append("\n.type ")
                    .append(name)
                    .append(", @function\n");
            assembly.append(name)
                    .append(": .cfi_startproc\npush %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\n");
            assembly.append("mov $").append(i).append(", %ebx\nmov %ebx, %eax\npop %rbx\n.cfi_def_cfa_offset 8\nret\n");
            assembly.append(".cfi_endproc\n.size ")
                    .append(name)
                    .append(", . - ")
                    .append(name)
                    .append('\n');
            table.append(".quad ").append(name).append('\n');
        }
        Files.writeString(directory.resolve("splits.s"), assembly + table.toString());
        Files.writeString(directory.resolve("straddling.c"), SOURCE);
        List<String> command = List.of("gcc", "-O1", "-pthread", "-o", "straddling", "straddling.c", "splits.s");
        Dist.Outcome compiled = Dist.run(directory, Map.of(), command);
        assertThat(compiled.status()).as(compiled.err()).isZero();
    }

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldHaveTheJumpsWhileAMetricWantsThem() throws Exception {
        start("profile=off");
        assertThat(tell("thread")).as("the text is the file's").isEqualTo(OWN);
        for (int round = 1; round <= 3; round++) {
            assertThat(Dist.ask(session, "metric enable procedure_calls@/Code/straddling/split_*"))
                    .startsWith("ok\n");
            assertThat(tell("")).isEqualTo(JUMPS);
            assertThat(Dist.ask(session, "metric disable procedure_calls@/Code/straddling/split_*"))
                    .startsWith("ok\n");
            assertThat(tell("")).isEqualTo(OWN);
        }
    }

    @Test
    void shouldCountEachCall() throws Exception {
        start("profile=off");
        assertThat(Dist.ask(session, "metric enable procedure_calls@/Code/straddling/split_*"))
                .startsWith("ok\n");
        assertThat(tell("calls")).isEqualTo(JUMPS);
        assertThat(Dist.metrics(directory, session).values()).hasSize(16).containsOnly((double) CALLS);
    }

    @Test
    void shouldHaveTheJumpsWhileTheProfilerWantsThem() throws Exception {
        start("exact");
        assertThat(tell("thread")).isEqualTo(JUMPS);
        assertThat(Dist.ask(session, "probes off split_*")).contains("16 functions off");
        assertThat(tell("")).isEqualTo(OWN);
        assertThat(Dist.ask(session, "probes on split_*")).contains("16 functions on");
        assertThat(tell("")).isEqualTo(JUMPS);
    }

    @Test
    void shouldHaveTheJumpsBeforeTheFirstForkWhereOnlyMembarrierIsKnown() throws Exception {
        start("profile=off,sync=membarrier");
        assertThat(tell("thread")).isEqualTo(OWN);
        assertThat(tell("fork")).isEqualTo(JUMPS);
        assertThat(Dist.ask(session, "metric enable procedure_calls@/Code/straddling/split_*"))
                .startsWith("ok\n");
        assertThat(tell("fork")).isEqualTo(JUMPS);
        assertThat(Dist.ask(session, "metric disable procedure_calls@/Code/straddling/split_*"))
                .startsWith("ok\n");
        assertThat(tell("")).isEqualTo(JUMPS);
    }

    private void start(String options) throws Exception {
        session = directory.resolve("session");
        Process started =
                Dist.start(List.of(directory.resolve("straddling").toString()), options + ",wait,session=" + session);
        process = started;
        assertThat(started.inputReader().readLine()).isEqualTo("ready");
    }

    /// @return the first byte of each function, then
    private String tell(String word) throws Exception {
        Process told = Objects.requireNonNull(process);
        told.outputWriter().write(word + "\n");
        told.outputWriter().flush();
        return told.inputReader().readLine();
    }
}
