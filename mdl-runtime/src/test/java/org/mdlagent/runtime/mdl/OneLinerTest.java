package org.mdlagent.runtime.mdl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.mdl.syntax.DefinitionLines;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.SyntaxTree;

/// Questions in one line, and the MDL that they stand for.
class OneLinerTest {
    @Test
    void shouldStandForAMetric() {
        assertThat(OneLiner.of("counter at entry of handle* when $arg[0] > 4096"))
                .isEqualTo(new OneLiner("entry_handle", """
                        list entry_handle_functions is procedure {
                            items { "handle*" };
                            library true;
                        }
                        metric entry_handle {
                            name "counter at entry of handle* when $arg[0] > 4096";
                            units calls;
                            unitsType unnormalized;
                            aggregateOperator sum;
                            constraint procedureConstraint;
                            constraint moduleConstraint;
                            constraint threadConstraint;
                            constraint processConstraint;
                            constraint machineConstraint;
                            base is counter {
                                foreach func in entry_handle_functions {
                                    append preInsn func.entry constrained (* if ($arg[0] > 4096) entry_handle++; *)
                                }
                            }
                        }
                        """));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        counter at return of f when $return < 0     | return_f         | func.return constrained (* if ($return < 0) return_f++; *)
        big = counter of $arg[2] at entry of write  | big              | func.entry constrained (* big += $arg[2]; *)
        wallTimer of f, g                           | wallTimer_f      | items { "f", "g" };
        t = wallTimer of f when $arg[0] == 4        | t                | constrained (* if ($arg[0] == 4) startWallTimer(t); *)
        processTimer of ns::f(int, char)            | processTimer_ns_f_int_char | items { "ns::f(int, char)" };
        processTimer of f                           | processTimer_f   | unitsType normalized;
        """)
    void shouldReadEachForm(String question, String name, String part) {
        OneLiner read = OneLiner.of(question);

        assertThat(read.name()).isEqualTo(name);
        assertThat(read.mdl()).contains(part);
        Compilation compilation = Compilation.of(new SourceFile(name, read.mdl()), MetricLibrary.load());
        assertThat(compilation.diagnostics()).isEmpty();
        assertThat(compilation.definitions().metrics()).containsOnlyKeys(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "handle",
                "counter of f",
                "counter at exit of f",
                "timer of f",
                "counter at entry of \"f\"",
                "counter at entry of f\nwhen 1"
            })
    void shouldSayWhatAQuestionIs(String text) {
        assertThatThrownBy(() -> OneLiner.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a question is: counter [of EXPRESSION] at entry|return of FUNCTION");
    }

    @Test
    void shouldWriteEachDefinitionInALineListsFirst() {
        SourceFile file = new SourceFile("f.mdl", """
                // What is asked.
                metric m { // a comment with "quotes"
                    name "http://m"; units calls; aggregateOperator sum;
                    base is counter { foreach f in fs { append preInsn f.entry (* m++; *) } }
                }
                list fs is procedure { items { "f" }; } // behind
                """);

        List<String> lines = DefinitionLines.of(SyntaxTree.parse(file, new Diagnostics(file)));

        assertThat(lines)
                .containsExactly(
                        "list fs is procedure { items { \"f\" }; }",
                        "metric m { name \"http://m\"; units calls; aggregateOperator sum;"
                                + " base is counter { foreach f in fs { append preInsn f.entry (* m++; *) } } }");
    }

    @Test
    void shouldTakeUnitsOfARateForARate() {
        Definitions definitions =
                Compilation.of(new SourceFile("r.mdl", """
                        metric r {
                            name "R"; units opsPerSecond; aggregateOperator sum;
                            base is counter { append preInsn $start.entry (* r++; *) }
                        }
                        metric s {
                            name "S"; units opsPerSecond; unitsType unnormalized; aggregateOperator sum;
                            base is counter { append preInsn $start.entry (* s++; *) }
                        }
                        metric level {
                            name "Level"; units opsPerSecond; aggregateOperator max; style SampledFunction;
                            base is counter { append preInsn $start.entry (* level++; *) }
                        }
                        """), Definitions.NONE).definitions();

        assertThat(definitions.metrics().get("r").unitsType()).isEqualTo(Metric.UnitsType.NORMALIZED);
        assertThat(definitions.metrics().get("s").unitsType()).isEqualTo(Metric.UnitsType.UNNORMALIZED);
        assertThat(definitions.metrics().get("level").unitsType()).isEqualTo(Metric.UnitsType.SAMPLED);
    }
}
