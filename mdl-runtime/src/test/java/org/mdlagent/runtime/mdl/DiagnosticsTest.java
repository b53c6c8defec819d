package org.mdlagent.runtime.mdl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// What is said of wrong files, letter for letter.
class DiagnosticsTest {
    @TestFactory
    Stream<DynamicTest> shouldSayWhatIsWrong() {
        List<Path> files = Resources.in("errors");
        assertThat(files).hasSizeGreaterThanOrEqualTo(60);
        return files.stream()
                .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> {
                    Compilation compilation = Compilation.of(Resources.read(file), Definitions.NONE);
                    String said = compilation.diagnostics().stream()
                            .map(diagnostic -> diagnostic.format() + "\n")
                            .collect(Collectors.joining());

                    assertThat(compilation.isCorrect()).isFalse();
                    assertThat(said).isEqualTo(Resources.expected(file, said));
                }));
    }

    @Test
    void shouldLoadWhatIsRightBesideWhatIsWrong() {
        Compilation compilation = compile("""
                metric wrong { name "wrong"; }
                list right is string { items { "a" }; }
                constraint broken /Code is counter { append }
                metric dependent {
                    name "d"; units calls; aggregateOperator sum;
                    constraint broken;
                    base is counter { append preInsn $start.entry (* dependent++; *) }
                }
                metric good {
                    name "g"; units calls; aggregateOperator sum;
                    base is counter { append preInsn $start.entry (* good++; *) }
                }
                """);

        assertThat(compilation.definitions().lists()).containsOnlyKeys("right");
        assertThat(compilation.definitions().metrics()).containsOnlyKeys("dependent", "good");
        // Three fields that wrong does not have, and what is missing in broken: nothing of the metric that names it.
        assertThat(compilation.diagnostics()).hasSize(4);
    }

    @Test
    void shouldSayOnceWhatIsIgnored() {
        Compilation compilation = compile("""
                daemon a { command "a"; }
                daemon b { command "b"; }
                visi c { command "c"; }
                tunable_constant "d" 1;
                tunable_constant "e" 2;
                """);

        assertThat(compilation.isCorrect()).isTrue();
        assertThat(compilation.diagnostics())
                .extracting(Diagnostic::severity, Diagnostic::message)
                .containsExactly(
                        tuple(Diagnostic.Severity.IGNORED, "a daemon has no meaning here"),
                        tuple(Diagnostic.Severity.IGNORED, "a visi has no meaning here"),
                        tuple(Diagnostic.Severity.IGNORED, "tunable constants have no meaning here"));
    }

    @Test
    void shouldSayWhatIsForNoProgramHere() {
        Compilation compilation = compile("""
                list l is procedure { items { "f" }; flavor { winnt, unix }; }
                metric m {
                    name "m"; units calls; aggregateOperator sum; flavor { winnt };
                    style SampledFunction; unitsType normalized;
                    base is counter { append preInsn $start.entry (* m++; *) }
                }
                metric level {
                    name "m"; units calls; aggregateOperator sum; style SampledFunction;
                    base is counter { append preInsn $start.entry (* level++; *) }
                }
                """);

        assertThat(compilation.isCorrect()).isTrue();
        assertThat(compilation.diagnostics())
                .extracting(Diagnostic::message)
                .containsExactly(
                        "no program here is of flavor winnt",
                        "metric m is a SampledFunction, it is not shown as a rate");
        assertThat(compilation.definitions().metrics().values())
                .extracting(Metric::unitsType)
                .containsOnly(Metric.UnitsType.SAMPLED);
    }

    @Test
    void shouldStopCountingAtAHundredErrors() {
        Compilation compilation = compile("@\n".repeat(5_000));

        assertThat(compilation.diagnostics()).hasSize(100);
        assertThat(compilation.diagnostics().getLast().message()).startsWith("too many errors");
    }

    private static Compilation compile(String text) {
        return Compilation.of(new SourceFile("test.mdl", text), Definitions.NONE);
    }
}
