package org.mdlagent.runtime.mdl.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.Resources;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Which snippets a request needs.
class EvaluatorTest {
    private static final String METRIC = """
            metric m {
                name "m"; units things; aggregateOperator sum;
                %s
            }
            """;

    private final FakeProgram program = new FakeProgram()
            .with("myprog.c", "/bin/myprog", "main", "foo", "bar")
            .withMangled("other.cc", "/bin/myprog", "ns::add(int)", "_ZN2ns3addEi")
            .withMangled("other.cc", "/bin/myprog", "ns::add(long)", "_ZN2ns3addEl")
            .with("pvm.c", "/lib/libpvm.so.3", "pvm_send", "pvm_recv");

    @Test
    void shouldInsertFourSnippetsForTheExampleOfThePaper() throws IOException {
        Answer.Instance msgs = instance(paper(), "msgs", "/Code/myprog.c/foo");

        assertThat(points(msgs))
                .containsExactly(
                        "append the entry of /Code/myprog.c/foo",
                        "prepend the return of /Code/myprog.c/foo",
                        "append the entry of /Code/pvm.c/pvm_send if procedure",
                        "append the entry of /Code/pvm.c/pvm_recv if procedure");
        Value flag = new Value("procedure", ValueKind.COUNTER, "/Code/myprog.c/foo");
        assertThat(msgs.snippets())
                .flatExtracting(
                        snippet -> snippet.code().getFirst().expressions().toList())
                .containsExactly(
                        new SnippetExpression.Store(flag, new SnippetExpression.Constant(1)),
                        new SnippetExpression.Store(flag, new SnippetExpression.Constant(0)),
                        new SnippetExpression.Add(msgs.value(), new SnippetExpression.Constant(1)),
                        new SnippetExpression.Add(msgs.value(), new SnippetExpression.Constant(1)));
        assertThat(msgs.obstacles()).isEmpty();
    }

    @Test
    void shouldInsertTwoSnippetsForTheWholeProgram() throws IOException {
        assertThat(points(instance(paper(), "msgs")))
                .containsExactly(
                        "append the entry of /Code/pvm.c/pvm_send", "append the entry of /Code/pvm.c/pvm_recv");
    }

    @Test
    void shouldSelectAModuleInTheFormOfThePaperAndInThatOfParadyn() throws IOException {
        List<String> paper = points(instance(paper(), "msgs", "/Code/myprog.c"));
        List<String> paradyn = points(instance(paradyn(), "msgs_of_paradyn", "/Code/myprog.c"));

        assertThat(paper).hasSize(3 * 2 + 2).contains("append the entry of /Code/myprog.c/bar");
        assertThat(paradyn).hasSize(3 * 2 + 1);
    }

    @Test
    void shouldSelectByTheNameOfTheImageWhereSourceFilesAreKnown() throws IOException {
        List<String> bySource = points(instance(paper(), "msgs", "/Code/pvm.c/pvm_send"));

        assertThat(points(instance(paper(), "msgs", "/Code/libpvm.so.3/pvm_send")))
                .isEqualTo(bySource)
                .isNotEmpty();
    }

    private static Definitions paper() throws IOException {
        Path file = Resources.in("ast").stream()
                .filter(path -> path.endsWith("paper.mdl"))
                .findFirst()
                .orElseThrow();
        return right(Resources.read(file).text());
    }

    private static Definitions paradyn() {
        return right("""
                constraint moduleConstraint /Code is counter {
                    foreach func in $constraint[0].funcs {
                        prepend preInsn func.entry (* moduleConstraint = 1; *)
                        append preInsn func.return (* moduleConstraint = 0; *)
                    }
                }
                metric msgs_of_paradyn {
                    name "m"; units things; aggregateOperator sum;
                    constraint moduleConstraint;
                    base is counter { append preInsn $start.entry constrained (* msgs_of_paradyn++; *) }
                }
                """);
    }

    @Test
    void shouldCombineConstraints() {
        Definitions definitions = right("""
                constraint proc /Code/* is counter { append preInsn $constraint[0].entry (* proc = 1; *) }
                constraint lock /SyncObject/Mutex is counter {
                    append preInsn $start.entry (* lock = $arg[0] == $constraint[0]; *)
                }
                constraint thread /Thread is default;
                metric m {
                    name "m"; units things; aggregateOperator sum;
                    constraint proc; constraint lock; constraint thread;
                    base is counter { append preInsn $start.entry constrained (* m++; *) }
                }
                """);

        assertThat(points(instance(definitions, "m", "/Code/myprog.c/bar", "/SyncObject/Mutex/0x10")))
                .containsExactly(
                        "append the entry of /Code/myprog.c/bar",
                        "append the entry of /Code/myprog.c/main",
                        "append the entry of /Code/myprog.c/main if proc and lock");
        Answer.Instance ofThread = instance(definitions, "m", "/Thread/77", "/SyncObject/Mutex/0x10");
        assertThat(points(ofThread)).hasSize(2);
        assertThat(ofThread.scopes()).containsExactly(Resource.of("/Thread/77"));
        assertThat(ofThread.snippets()
                        .getFirst()
                        .code()
                        .getFirst()
                        .expressions()
                        .findFirst()
                        .orElseThrow())
                .isEqualTo(new SnippetExpression.Store(
                        new Value("lock", ValueKind.COUNTER, "/SyncObject/Mutex"),
                        new SnippetExpression.Binary(
                                Operator.ADD,
                                new SnippetExpression.Position(
                                        new Value("lock", ValueKind.COUNTER, "/SyncObject/Mutex"),
                                        new SnippetExpression.Argument(0)),
                                new SnippetExpression.Constant(1))));
        assertThat(ofThread.flags().getFirst().choice())
                .isEqualTo(new Answer.Choice(new Value("lock", ValueKind.COUNTER, "/SyncObject/Mutex"), false, 16L));
    }

    /// Whether its name is known or not.
    @Test
    void shouldKnowAFileByItsNumber() {
        program.withFiles("etc/passwd", "etc/hosts");
        Definitions definitions = right("""
                constraint file /File is vector direct {
                    append preInsn $start.entry (* file = fileOf($arg[0]) == $constraint[0]; *)
                    prepend preInsn $start.return (* file = 0; *)
                }
                metric m {
                    name "m"; units things; aggregateOperator sum; constraint file;
                    base is counter { append preInsn $start.entry constrained (* m++; *) }
                }
                """);
        Value flag = new Value("file", ValueKind.COUNTER, "/File");

        Answer.Instance named = instance(definitions, "m", "/File/etc/hosts");

        assertThat(named.flags().getFirst().choice()).isEqualTo(new Answer.Choice(flag, true, 2L));
        assertThat(named.snippets())
                .isEqualTo(instance(definitions, "m", "/File/#2").snippets());
        assertThat(named.value())
                .isEqualTo(instance(definitions, "m", "/File/#2").value());
        assertThat(instance(definitions, "m", "/File/(other)")
                        .flags()
                        .getFirst()
                        .choice())
                .isEqualTo(new Answer.Choice(flag, true, null));
        assertThat(named.snippets().getFirst().code().getFirst().expressions())
                .containsExactly(new SnippetExpression.Store(
                        flag,
                        new SnippetExpression.Binary(
                                Operator.ADD,
                                new SnippetExpression.Position(
                                        flag, new SnippetExpression.FileOf(new SnippetExpression.Argument(0))),
                                new SnippetExpression.Constant(1))));
        assertThat(new Evaluator(definitions, program)
                        .evaluate(
                                java.util.Objects.requireNonNull(
                                        definitions.metrics().get("m")),
                                Focus.of(List.of("/File/etc/shadow")),
                                1))
                .isInstanceOf(Answer.Refused.class);
    }

    /// All elements of the vector share the code, including elements that no request names.
    @Test
    void shouldAnswerWithTheCodeOfAVector() {
        Definitions definitions = right("""
                constraint lock /SyncObject/Mutex is vector direct {
                    append preInsn $start.entry (* lock = $constraint[0] == $arg[0] / 2; *)
                    prepend preInsn $start.return (* lock = 0; *)
                }
                metric m {
                    name "m"; units things; aggregateOperator sum; constraint lock;
                    base is counter { append preInsn $start.entry constrained (* m++; *) }
                }
                """);
        Answer.Flag four =
                instance(definitions, "m", "/SyncObject/Mutex/4").flags().getFirst();
        Answer.Flag other =
                instance(definitions, "m", "/SyncObject/Mutex/(other)").flags().getFirst();

        Value selector = new Value("lock", ValueKind.COUNTER, "/SyncObject/Mutex");
        assertThat(four.choice()).isEqualTo(new Answer.Choice(selector, true, 4L));
        assertThat(other.choice()).isEqualTo(new Answer.Choice(selector, true, null));
        assertThat(other.snippets()).hasSize(2).isEqualTo(four.snippets());
        assertThat(other.value()).isNotEqualTo(four.value());
    }

    /// What also depends on the object, or on other flags, or counts, is a flag for each as before.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "(* if ($arg[0] == $constraint[0]) lock += 1; *)",
                "(* lock = $arg[0] + $constraint[0] == $constraint[0]; *)",
                "(* lock = $constraint[0] == $arg[0] + lock; *)",
                "constrained (* lock = $arg[0] == $constraint[0]; *)"
            })
    void shouldLeaveFlagsAloneThatAreNoVector(String code) {
        Definitions definitions = right("""
                constraint lock /SyncObject/Mutex is counter {
                    append preInsn $start.entry %s
                    prepend preInsn $start.return (* lock = 0; *)
                }
                metric m {
                    name "m"; units things; aggregateOperator sum; constraint lock;
                    base is counter { append preInsn $start.entry constrained (* m++; *) }
                }
                """.formatted(code));

        Answer.Flag flag =
                instance(definitions, "m", "/SyncObject/Mutex/4").flags().getFirst();
        assertThat(flag.choice()).isNull();
        assertThat(flag.value()).isEqualTo(new Value("lock", ValueKind.COUNTER, "/SyncObject/Mutex/4"));
    }

    @Test
    void shouldReplaceTheBase() {
        Definitions definitions = right("""
                metric m {
                    name "m"; units things; aggregateOperator sum;
                    constraint timed /Code/* is replace wallTimer {
                        prepend preInsn $constraint[0].entry constrained (* startWallTimer(m); *)
                        append preInsn $constraint[0].return (* stopWallTimer(timed); *)
                    }
                    base is counter { append preInsn $start.entry constrained (* m++; *) }
                }
                """);

        Answer.Instance timed = instance(definitions, "m", "/Code/myprog.c/foo");

        assertThat(timed.value()).isEqualTo(new Value("m", ValueKind.WALL_TIMER, "m@/Code/myprog.c/foo"));
        assertThat(timed.snippets())
                .flatExtracting(
                        snippet -> snippet.code().getFirst().expressions().toList())
                .containsExactly(new SnippetExpression.Start(timed.value()), new SnippetExpression.Stop(timed.value()));
        assertThat(instance(definitions, "m").value().kind()).isEqualTo(ValueKind.COUNTER);
    }

    @Test
    void shouldGoOnWithoutWhatCannotBeInstrumented() {
        program.withObstacle(new Point.Entry(program.procedure("bar")), "it has no probe");
        Definitions definitions = right(METRIC.formatted("""
                base is counter {
                    foreach f in $procedures append preInsn f.entry (* m++; *)
                    append preInsn $start.return (* m += readSymbol("absent"); *)
                    append preInsn $start.return (* m += readSymbol("table"); *)
                    append preInsn $exit.entry (* m = 0; *)
                }
                """));
        program.withSymbol("table", 0x1000, 400);

        Answer.Instance m = instance(definitions, "m");

        assertThat(m.snippets()).hasSize(6);
        assertThat(m.obstacles())
                .extracting(Answer.Obstacle::toString)
                .containsExactly(
                        "the entry of /Code/myprog.c/bar: it has no probe",
                        "absent: the program has no such symbol",
                        "table: it has 400 bytes, code reads 1, 2, 4 or 8",
                        "$exit: the program does not call exit: use $start.return");
    }

    @Test
    void shouldLeaveOutWhatWouldNeverEnd() {
        program.withObstacle(new Point.Return(program.procedure("bar")), "no probe sees it");
        program.withObstacle(new Point.Return(program.procedure("main")), "no probe sees it");
        Definitions definitions = right(METRIC.formatted("""
                constraint running;
                base is counter {
                    foreach f in $procedures {
                        append preInsn f.entry (* m++; *)
                        append preInsn f.return (* m += -1; *)
                    }
                }
                """) + """
                constraint running /Code/* is counter {
                    prepend preInsn $constraint[0].entry (* running = 1; *)
                    append preInsn $constraint[0].return (* running = 0; *)
                }
                """);

        Answer.Instance m = instance(definitions, "m");

        assertThat(points(m)).doesNotContain("append the entry of /Code/myprog.c/bar");
        assertThat(points(m))
                .contains("append the entry of /Code/myprog.c/main", "append the entry of /Code/myprog.c/foo");
        assertThat(m.obstacles())
                .extracting(Answer.Obstacle::toString)
                .contains("the entry of /Code/myprog.c/bar: left out: no probe sees the return");
        assertThat(evaluate(definitions, "m", "/Code/myprog.c/bar"))
                .isEqualTo(new Answer.Refused("/Code/myprog.c/bar: the return of /Code/myprog.c/bar: no probe sees it; "
                        + "the entry of /Code/myprog.c/bar: left out: no probe sees the return"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        pvm_send             | pvm_send
        pvm_*                | pvm_send pvm_recv
        libpvm*!*            | pvm_send pvm_recv
        myprog.c:b*          | bar
        ns::add(long)        | ns::add(long)
        ns::add              | ns::add(int) ns::add(long)
        _ZN2ns3addEi         | ns::add(int)
        absent               | ''
        """)
    void shouldFindTheItemsOfLists(String item, String found) {
        Definitions definitions = right("list l is procedure { items { \"" + item + "\", \"foo\", \"foo\" }; }\n"
                + METRIC.formatted("base is counter { foreach f in l append preInsn f.entry (* m++; *) }"));

        assertThat(instance(definitions, "m").snippets().stream()
                        .map(snippet -> snippet.point().procedure().name())
                        .collect(Collectors.joining(" ")))
                .isEqualTo((found + " foo").strip());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        exclude "libpvm.so.3";                  | 5
        exclude noCase "LIBPVM.so.3";           | 5
        exclude regex "^/lib/";                 | 5
        exclude "/Code/myprog.c";               | 4
        exclude "/Code/myprog.c/foo";           | 6
        exclude "ns::add(int)";                 | 6
        exclude "pvm"; exclude "LIBPVM.so.3";   | 7
        """)
    void shouldLeaveOutWhatIsExcluded(String exclude, int left) {
        Definitions definitions = right(exclude
                + METRIC.formatted("base is counter { foreach f in $procedures append preInsn f.entry (* m++; *) }"));

        assertThat(instance(definitions, "m").snippets()).hasSize(left);
    }

    @Test
    void shouldExecuteConditionsAndCalls() {
        program.withCall("foo", "bar", 0x100).withCall("foo", "puts", 0x108).withSymbol("usleep", 0x2000, 0);
        Definitions definitions = right(METRIC.formatted("""
                base is counter {
                    foreach mod in $modules foreach f in mod.funcs
                        if (f.name == "foo" && 7 / 2 == 3 && 1.5 * 2 >= 3 || f.name == "none")
                            foreach c in f.calls
                                if (c.name != "bar") {
                                    append postInsn c (* if (m > 0) usleep(m, "text", c.name, $globalId); m -= 2; *)
                                }
                }
                """));

        Answer.Instance m = instance(definitions, "m");

        assertThat(points(m)).containsExactly("append the call of puts in /Code/myprog.c/foo");
        SnippetExpression.Load load = new SnippetExpression.Load(m.value());
        assertThat(m.snippets().getFirst().code())
                .containsExactly(
                        new SnippetRequest.If(
                                new SnippetExpression.Binary(Operator.GREATER, load, new SnippetExpression.Constant(0)),
                                List.of(new SnippetRequest.Run(new SnippetExpression.Call(
                                        new Symbol("usleep", 0x2000, 0, true),
                                        List.of(
                                                load,
                                                new SnippetExpression.Text("text"),
                                                new SnippetExpression.Text("puts"),
                                                new SnippetExpression.Constant(9)))))),
                        new SnippetRequest.Run(new SnippetExpression.Add(
                                m.value(), new SnippetExpression.Negate(new SnippetExpression.Constant(2)))));
    }

    @Test
    void shouldRunTheStatementsInBracesWhileTheConditionHolds() {
        program.withSymbol("timeSteps", 0x1000, 4);
        Definitions definitions = right(METRIC.formatted("""
                counter late;
                base is wallTimer {
                    append preInsn $start.entry (*
                        if (readSymbol("timeSteps") == 300) { startWallTimer(m); if (late) { late += 1; late++; } }
                    *)
                }
                """));

        Answer.Instance m = instance(definitions, "m");

        SnippetRequest.If inner = new SnippetRequest.If(
                new SnippetExpression.Load(late(m)), List.of(increment(late(m)), increment(late(m))));
        assertThat(m.snippets().getFirst().code())
                .containsExactly(new SnippetRequest.If(
                        new SnippetExpression.Binary(
                                Operator.EQUAL,
                                new SnippetExpression.Global(new Symbol("timeSteps", 0x1000, 4, true)),
                                new SnippetExpression.Constant(300)),
                        List.of(new SnippetRequest.Run(new SnippetExpression.Start(m.value())), inner)));
    }

    private static Value late(Answer.Instance m) {
        return new Value("late", ValueKind.COUNTER, m.value().owner());
    }

    private static SnippetRequest.Run increment(Value counter) {
        return new SnippetRequest.Run(new SnippetExpression.Add(counter, new SnippetExpression.Constant(1)));
    }

    @Test
    void shouldTakeItemsOfLists() {
        Definitions definitions = right("""
                list functions is procedure { items { "absent", "foo", "ba*" }; }
                list sources is module { items { "myprog.c" }; }
                list numbers is int { items { 1, 2 }; }
                """ + METRIC.formatted("""
                base is counter {
                    foreach n in numbers append preInsn functions[n].entry (* m += numbers[1]; *)
                    append preInsn functions[0].entry (* m++; *)
                    append preInsn functions[3].entry (* m++; *)
                    append preInsn functions[0 - 1].entry (* m++; *)
                    foreach f in sources[0].funcs append preInsn f.return (* m++; *)
                    append postInsn $procedures[0].return (* m++; *)
                }
                """));

        Answer.Instance m = instance(definitions, "m");

        assertThat(points(m))
                .containsExactly(
                        "append the entry of /Code/myprog.c/foo",
                        "append the entry of /Code/myprog.c/bar",
                        "append the return of /Code/myprog.c/main",
                        "append the return of /Code/myprog.c/foo",
                        "append the return of /Code/myprog.c/bar",
                        "append the return of /Code/myprog.c/main");
        assertThat(m.snippets().getFirst().code())
                .containsExactly(new SnippetRequest.Run(
                        new SnippetExpression.Add(m.value(), new SnippetExpression.Constant(2))));
        assertThat(m.obstacles())
                .extracting(Answer.Obstacle::toString)
                .containsExactly(
                        "functions[0]: the program has no absent",
                        "functions[3]: the list has 3 items, and the first is 0",
                        "functions[-1]: the list has 3 items, and the first is 0");
    }

    @Test
    void shouldRefuseWhatIsForOtherPrograms() {
        Definitions definitions = right("""
                list other is procedure { items { "foo" }; flavor { mpi }; }
                list own is procedure { items { "bar" }; flavor { mpi, pvm }; }
                metric ofMpi {
                    name "m"; units things; aggregateOperator sum; flavor { mpi };
                    base is counter { append preInsn $start.entry (* ofMpi++; *) }
                }
                metric ofPvm {
                    name "m"; units things; aggregateOperator sum; flavor { mpi, pvm };
                    base is counter {
                        foreach func in other append preInsn func.entry (* ofPvm++; *)
                        foreach func in own append preInsn func.entry (* ofPvm++; *)
                    }
                }
                """);

        assertThat(points(instance(definitions, "ofPvm"))).containsExactly("append the entry of /Code/myprog.c/bar");
        assertThat(evaluate(definitions, "ofMpi"))
                .isEqualTo(new Answer.Refused("metric ofMpi: it is for programs of flavor mpi, this one is of unix, pvm"
                        + " and calls no MPI_* or PMPI_*; flavor unix is for all programs"));
        program.withImported("MPI_Init");
        assertThat(evaluate(definitions, "ofMpi")).isInstanceOf(Answer.Instance.class);
    }

    @Test
    void shouldRefuseWhatCountsFromWhenMainBeginsInAMainThatRuns() throws IOException {
        Definitions shipped = MetricLibrary.load();
        List<String> fromMain = List.of("cpu", "cpu_inclusive", "exec_time", "active_processes");
        assertThat(fromMain).allSatisfy(metric -> instance(shipped, metric));

        program.thatHasBegun();

        assertThat(fromMain)
                .allSatisfy(metric -> assertThat(evaluate(shipped, metric))
                        .isEqualTo(new Answer.Refused(metric + " starts with main, and main runs already: use"
                                + " mdl run --metric, or another function")));
        instance(shipped, "procedure_calls");
        instance(shipped, "cpu", "/Code/myprog.c/bar");
        assertThat(List.of("exec_time", "procedure_calls"))
                .allSatisfy(metric -> assertThat(evaluate(shipped, metric, "/Code/myprog.c/main"))
                        .isInstanceOf(Answer.Refused.class));
        assertThat(evaluate(shipped, "io_ops", "/Code/myprog.c/main")).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void shouldTakeTheExitWhereTheProgramCallsIt() {
        program.withImported("exit");
        Definitions definitions = right(METRIC.formatted("base is counter { append preInsn $exit.entry (* m++; *) }"));

        assertThat(points(instance(definitions, "m"))).containsExactly("append the entry of /Code/libc.so.6/exit");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        /Code/myprog.c/fou      | "/Code/myprog.c/fou: the module has no such function with probes, did you mean 'foo'?"
        /Code/myprg.c/foo       | "/Code/myprg.c: the program has no such module, did you mean 'myprog.c'?"
        /Code/other.cc/ns::add  | "/Code/other.cc/ns::add: 2 functions have this name: add its parameter types"
        /Code/myprog.c          | "/Code/myprog.c: metric m has no constraint for it"
        /SyncObject/Mutex/0x10  | "/SyncObject/Mutex/0x10: metric m has no constraint for it"
        """)
    void shouldRefuseWhatItCannotSelect(String focus, String reason) {
        Definitions definitions = right("""
                constraint proc /Code/* is counter { append preInsn $constraint[0].entry (* proc = 1; *) }
                """ + METRIC.formatted("""
                constraint proc;
                base is counter { append preInsn $start.entry (* m++; *) }
                """));

        assertThat(evaluate(definitions, "m", focus)).isEqualTo(new Answer.Refused(reason));
    }

    @Test
    void shouldRefuseWhatMeasuresNothingHere() {
        Definitions definitions = right("list l is procedure { items { \"MPI_Send\" }; }\n"
                + METRIC.formatted("base is counter { foreach f in l append preInsn f.entry (* m++; *) }"));

        assertThat(evaluate(definitions, "m"))
                .isEqualTo(
                        new Answer.Refused(
                                "metric m: the program has none of the functions that it measures, and calls none in its libraries"));
    }

    @Test
    void shouldEndLoopsInLoops() {
        String[] names = new String[200];
        for (int i = 0; i < names.length; i++) {
            names[i] = "f" + i;
        }
        program.with("many.c", "/bin/myprog", names);
        Definitions definitions = right(METRIC.formatted("""
                base is counter {
                    foreach a in $procedures foreach b in $procedures foreach c in $procedures
                        if (a.name == b.name && b.name == c.name) append preInsn a.entry (* m++; *)
                }
                """));

        assertThat(evaluate(definitions, "m"))
                .isEqualTo(new Answer.Refused("the request: it executes more than 5000000 statements"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        Code/a             | a resource is given as /HIERARCHY/..., not as Code/a
        /Cod/a             | there is no hierarchy /Cod, did you mean '/Code'?
        /Code//a           | a part of /Code//a is empty
        /Thread/1 /Thread/2 | a focus has one choice from /Thread
        """)
    void shouldRefuseAWrongFocus(String paths, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Focus.of(List.of(paths.split(" ", -1))))
                .withMessage(message);
    }

    @Test
    void shouldKeepSlashesInNamesOfFunctions() {
        assertThat(Resource.of("/Code/a.cc/operator/(A, B)").components())
                .containsExactly("Code", "a.cc", "operator/(A, B)");
        assertThat(Focus.of(List.of("/Code", "/Thread"))).isEqualTo(Focus.WHOLE_PROGRAM);
    }

    private static Definitions right(String text) {
        Compilation compilation = Compilation.of(new SourceFile("test.mdl", text), Definitions.NONE);
        assertThat(compilation.diagnostics()).isEmpty();
        return compilation.definitions();
    }

    private Answer evaluate(Definitions definitions, String metric, String... focus) {
        return new Evaluator(definitions, program)
                .evaluate(definitions.metrics().get(metric), Focus.of(List.of(focus)), 9);
    }

    private Answer.Instance instance(Definitions definitions, String metric, String... focus) {
        Answer answer = evaluate(definitions, metric, focus);
        assertThat(answer).isInstanceOf(Answer.Instance.class);
        return (Answer.Instance) answer;
    }

    private static List<String> points(Answer.Instance instance) {
        return instance.snippets().stream().map(EvaluatorTest::describe).toList();
    }

    private static String describe(SnippetRequest snippet) {
        String guards = snippet.guards().stream().map(Value::name).collect(Collectors.joining(" and "));
        return snippet.order().word() + " " + snippet.point().description() + (guards.isEmpty() ? "" : " if " + guards);
    }
}
