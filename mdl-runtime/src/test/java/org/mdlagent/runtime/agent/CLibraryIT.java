package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Functions of libc are probed where they are named, though the agent calls them, too.
class CLibraryIT {
    private static final int THREADS = 3;
    private static final int ROUNDS = 20_000;

    @TempDir
    Path directory;

    @Test
    void shouldCountCallsOfTheProgramAlone() throws Exception {
        Path session = directory.resolve("session");
        compile("counts", """
                #include <fcntl.h>
                #include <pthread.h>
                #include <stdlib.h>
                #include <unistd.h>
                static void *work(void *rounds) {
                  for (long i = 0; i < (long)rounds; i++) {
                    void *memory = malloc(16 + i %% 900);
                    if (i %% 10 == 0) memory = realloc(memory, 2000);
                    free(memory);
                  }
                  return NULL;
                }
                int main(void) {
                  char bytes[64];
                  pthread_t threads[%1$d];
                  int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
                  for (int i = 0; i < %2$d; i++) {
                    if (read(zero, bytes, 1 + i %% 60) < 0 || write(null, bytes, 5) != 5) return 1;
                    if (i %% 2 && write(null, bytes, 7) != 7) return 1;
                  }
                  for (int i = 0; i < %1$d; i++) pthread_create(&threads[i], 0, work, (void *)%2$dL);
                  for (int i = 0; i < %1$d; i++) pthread_join(threads[i], 0);
                  return 0;
                }
                """.formatted(THREADS, ROUNDS));

        Dist.Outcome run = run(
                session,
                List.of("--exact"),
                List.of("malloc", "free", "realloc", "read", "write", "vfork", "memcpy", "mmap"),
                "./counts");

        assertThat(run.status()).as(run.err()).isZero();
        Map<String, Long> calls = Dist.calls(Dist.report(directory, session));
        assertThat(calls).containsEntry("read", (long) ROUNDS).containsEntry("write", ROUNDS * 3L / 2);
        // Where the jumps of these lead is a few pages, which may be taken.
        long all = (long) THREADS * ROUNDS;
        assertThat(calls.getOrDefault("malloc", all)).isEqualTo(all);
        assertThat(calls.getOrDefault("free", all)).isEqualTo(all);
        assertThat(calls.getOrDefault("realloc", all / 10)).isEqualTo(all / 10);
        assertThat(Files.readString(session.resolve("agent.log")))
                .contains("the agent itself calls it while it records")
                .contains("it returns twice, changes stacks, or depends on who calls it")
                .contains("the dynamic linker chooses its implementation");
    }

    /// Returns that are not seen, or twice, children in their parent's memory, threads that end, handlers.
    private static final String DIFFICULT = """
            #define _GNU_SOURCE
            #include <pthread.h>
            #include <setjmp.h>
            #include <signal.h>
            #include <spawn.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <sys/time.h>
            #include <sys/wait.h>
            #include <unistd.h>
            extern char **environ;
            static jmp_buf back;
            static volatile long interrupts;
            static int fds[2];
            static void interrupt(int signal) { interrupts++; if (write(fds[1], "", 0) < 0) _exit(9); (void)signal; }
            static int order(const void *a, const void *b) {
              if (*(const int *)a == 7) longjmp(back, 3);
              return *(const int *)a - *(const int *)b;
            }
            static void *thread(void *arg) {
              char *text = strdup("thread");
              for (int i = 0; i < 200; i++) { char *more; if (asprintf(&more, "%s%d", text, i) > 0) free(more); }
              free(text);
              pthread_exit(arg);
            }
            static int status_of(pid_t child) { int status = -1; waitpid(child, &status, 0); return WEXITSTATUS(status); }
            int main(void) {
              int numbers[] = {5, 7, 1, 9, 3};
              struct itimerval often = {{0, 500}, {0, 500}};
              if (pipe(fds)) return 1;
              signal(SIGALRM, interrupt);
              setitimer(ITIMER_REAL, &often, NULL);
              volatile int jumps = 0;
              for (volatile int i = 0; i < 300; i++)
                if (setjmp(back) == 3) jumps++; else qsort(numbers, 5, sizeof *numbers, order);
              for (int i = 0; i < 20; i++) {
                pthread_t id;
                pthread_create(&id, NULL, thread, NULL);
                pthread_join(id, NULL);
              }
              int statuses = 0;
              for (int i = 0; i < 20; i++) {
                pid_t child = vfork();
                if (child == 0) { close(fds[0]); if (i % 2) execl("/bin/sh", "sh", "-c", "exit 3", NULL); _exit(5); }
                statuses = statuses * 3 % 1009 + status_of(child);
              }
              char *args[] = {"sh", "-c", "exit 4", NULL};
              for (int i = 0; i < 10; i++) {
                pid_t child;
                if (posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ)) return 1;
                statuses = statuses * 3 % 1009 + status_of(child);
                child = fork();
                if (child == 0) { free(malloc(100)); _exit(i); }
                statuses = statuses * 3 % 1009 + status_of(child);
              }
              setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
              FILE *echo = popen("echo popen", "r");
              char line[32] = "";
              if (!echo || !fgets(line, sizeof line, echo)) return 1;
              pclose(echo);
              printf("%d jumps, statuses %d, system %d, %s", jumps, statuses, WEXITSTATUS(system("exit 6")), line);
              return interrupts == 0;
            }
            """;

    @Test
    void shouldComputeTheSameWithEveryFunctionThatCanBeProbed() throws Exception {
        compile("difficult", DIFFICULT);
        Dist.Outcome alone = Dist.run(directory, Map.of(), List.of("./difficult"));

        Dist.Outcome exact = run(directory.resolve("exact"), List.of("--exact"), List.of("*"), "./difficult");
        Dist.Outcome storm =
                run(directory.resolve("storm"), List.of("--sliced=*", "--budget=100"), List.of("*"), "./difficult");

        for (Dist.Outcome outcome : List.of(exact, storm)) {
            assertThat(outcome.status()).as(outcome.err()).isZero();
            assertThat(outcome.out()).isEqualTo(alone.out());
        }
        Map<String, Long> calls = Dist.calls(Dist.report(directory, directory.resolve("exact")));
        assertThat(calls).containsEntry("pclose", 1L).doesNotContainKeys("vfork", "setjmp", "_setjmp");
        // One in each of ten children, when they have records of their own. One before that was recorded among the
        // parent's calls, while the parent recorded. Which functions have no probe differs from run to run.
        assertThat(calls.getOrDefault("pthread_mutex_init", 10L)).isEqualTo(10);
    }

    private Dist.Outcome run(Path session, List<String> options, List<String> functions, String program)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "-o", session.toString()));
        command.addAll(options);
        functions.forEach(function -> command.add("--include=libc.so.6!" + function));
        command.addAll(List.of("--", program));
        return Dist.run(directory, Map.of(), command);
    }

    private void compile(String name, String source) throws Exception {
        Path file = Files.writeString(directory.resolve(name + ".c"), source);
        Dist.Outcome outcome = Dist.run(
                directory, Map.of(), List.of("gcc", "-O1", "-fno-builtin", "-pthread", "-o", name, file.toString()));
        assertThat(outcome.status()).as(outcome.err()).isZero();
    }
}
