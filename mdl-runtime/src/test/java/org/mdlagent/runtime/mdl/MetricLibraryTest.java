package org.mdlagent.runtime.mdl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Evaluator;
import org.mdlagent.runtime.mdl.request.FakeProgram;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// The metrics that come with the agent, and a configuration as Paradyn's users have it.
class MetricLibraryTest {
    private final FakeProgram program = new FakeProgram()
            .with("solver.c", "/bin/solver", "main", "solve", "norm")
            .with("libc.so.6", "/lib/libc.so.6", "read", "write", "open", "close", "lseek", "poll", "send")
            .with("libc.so.6", "/lib/libc.so.6", "malloc", "calloc", "free", "fork", "execve", "memcpy", "sem_wait")
            .with("libc.so.6", "/lib/libc.so.6", "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_trylock")
            .with("libc.so.6", "/lib/libc.so.6", "pthread_cond_wait", "pthread_cond_signal", "pthread_create")
            .with("libmpi.so", "/lib/libmpi.so", "MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Barrier")
            .with("libpvm.so", "/lib/libpvm.so", "pvm_send", "pvm_recv")
            .withSymbol("MPI_Type_size", 0x1000, 100)
            .withSymbol("typeSize", 0x2000, 4)
            .withSymbol("trace", 0x3000, 100);

    @Test
    void shouldPrintADefinitionWithItsComment() {
        assertThat(String.join("\n", MetricLibrary.source("active_processes")))
                .startsWith("// Processes whose main has begun and not returned.\nmetric active_processes {")
                .endsWith("}");
        assertThat(MetricLibrary.source("threadConstraint"))
                .contains("constraint threadConstraint /Thread is default;");
        assertThat(MetricLibrary.source("nothing")).isEmpty();
    }

    @Test
    void shouldBeRight() {
        Definitions known = Definitions.NONE;
        for (SourceFile file : MetricLibrary.files()) {
            Compilation compilation = Compilation.of(file, known);
            assertThat(compilation.diagnostics()).as(file.name()).isEmpty();
            known = known.with(compilation.definitions());
        }

        assertThat(MetricLibrary.load().metrics())
                .containsOnlyKeys(
                        "procedure_calls",
                        "call_rate",
                        "cpu",
                        "cpu_inclusive",
                        "exec_time",
                        "active_processes",
                        "io_ops",
                        "io_bytes",
                        "io_wait",
                        "mutex_ops",
                        "mutex_wait",
                        "condition_wait",
                        "lock_contention",
                        "memory_allocated",
                        "memory_allocations",
                        "memory_freed",
                        "msgs",
                        "messages_sent",
                        "messages_received",
                        "message_wait",
                        "page_faults",
                        "context_switches");
    }

    @Test
    void shouldHaveAnExampleEach() throws IOException {
        String page = Files.readString(Path.of("../docs/metrics.md"));

        assertThat(MetricLibrary.load().metrics().keySet())
                .allSatisfy(metric -> assertThat(page).contains("`" + metric + "`"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        procedure_calls  | /Code/solver.c/solve   | 1
        procedure_calls  | /Code/solver.c         | 3
        procedure_calls  | /Thread/5              | 29
        cpu              | /Code/solver.c/solve   | 2
        exec_time        | /Code/solver.c         | 6
        active_processes | /Process/5             | 2
        io_ops           | /Code/solver.c/solve   | 5
        io_wait          | /Code/solver.c         | 14
        mutex_wait       | /SyncObject/Mutex/0x10 | 6
        lock_contention  | /SyncObject/Mutex/0x10 | 5
        memory_allocated | /Machine/here          | 2
        msgs             | /Code/solver.c/solve   | 4
        msgs             | /SyncObject/Message/5  | 6
        messages_sent    | /SyncObject/Message/5  | 5
        page_faults      | /Thread/5              | 0
        """)
    void shouldNeedSnippets(String metric, String focus, int snippets) {
        assertThat(evaluate(MetricLibrary.load(), metric, Focus.of(List.of(focus))))
                .isInstanceOfSatisfying(
                        Answer.Instance.class,
                        instance -> assertThat(instance.snippets()).hasSize(snippets));
    }

    /// By the grammar of Paradyn's sources of April 2001.
    @Test
    void shouldReadEachProductionOfParadyn() throws IOException {
        Path file = Resources.in("paradyn").getLast();
        Compilation compilation = Compilation.of(Resources.read(file), Definitions.NONE);

        assertThat(file).hasFileName("grammar.mdl");
        assertThat(compilation.isCorrect()).isTrue();
        assertThat(compilation.diagnostics())
                .extracting(Diagnostic::message)
                .containsExactly(
                        "no program here is of flavor cm5",
                        "a visi has no meaning here",
                        "a process has no meaning here",
                        "a daemon has no meaning here",
                        "tunable constants have no meaning here");
        assertThat(compilation.definitions().lists()).hasSize(4);
        assertThat(compilation.definitions().metrics()).containsOnlyKeys("steps");
    }

    @Test
    void shouldLoadTheConfigurationOfParadyn() throws IOException {
        Path file = Resources.in("paradyn").getFirst();
        Compilation compilation = Compilation.of(Resources.read(file), Definitions.NONE);
        Definitions definitions = compilation.definitions();

        assertThat(compilation.isCorrect()).isTrue();
        assertThat(compilation.diagnostics())
                .extracting(Diagnostic::message)
                .containsExactly(
                        "a daemon has no meaning here",
                        "a process has no meaning here",
                        "a visi has no meaning here",
                        "tunable constants have no meaning here");
        assertThat(definitions.metrics()).hasSizeGreaterThanOrEqualTo(40);
        assertThat(definitions.metrics().keySet())
                .allSatisfy(metric -> assertThat(evaluate(definitions, metric, Focus.WHOLE_PROGRAM))
                        .isInstanceOf(Answer.Instance.class));
    }

    private Answer evaluate(Definitions definitions, String metric, Focus focus) {
        return new Evaluator(definitions, program)
                .evaluate(Objects.requireNonNull(definitions.metrics().get(metric)), focus, 1);
    }
}
