package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Programs in Go, as its compiler leaves them: calls of goroutines are counted.
class GoProgramsIT {
    private static final long GOROUTINES = 4;
    private static final long ROUNDS = 500;
    private static final long DEPTH = 200;

    /// Stacks that grow in the middle of a call, faults that become panics, threads that come and go, preemption,
    /// samples of program counters, collected garbage, children.
    private static final String PROGRAM = """
            package main

            import (
            	"bytes"
            	"fmt"
            	"os/exec"
            	"os/user"
            	"runtime"
            	"runtime/pprof"
            	"strings"
            	"sync"
            )

            type node struct{ left, right *node }

            //go:noinline
            func fib(n int) int {
            	if n < 2 {
            		return n
            	}
            	return fib(n-1) + fib(n-2)
            }

            //go:noinline
            func words(s string) int { return len(strings.Fields(s)) }

            //go:noinline
            func deep(n int) int {
            	var pad [256]byte
            	pad[n%%256] = byte(n)
            	if n == 0 {
            		return int(pad[0])
            	}
            	return deep(n-1) + int(pad[n%%256]&1)
            }

            //go:noinline
            func tree(n int) *node {
            	if n == 0 {
            		return nil
            	}
            	return &node{tree(n - 1), tree(n - 1)}
            }

            //go:noinline
            func faults(p *node) (err error) {
            	defer func() { err = recover().(error) }()
            	p.left.left = nil
            	return nil
            }

            //go:noinline
            func spread(a, b, c, d, e, f, g, h, i int, x, y float64) float64 {
            	if a == 9 {
            		return spread(b, c, d, e, f, g, h, i, a, y, x)
            	}
            	return float64(a+2*b+3*c+4*d+5*e+6*f+7*g+8*h+9*i)*x - y
            }

            func work(g int, sums []int) {
            	if g%%2 == 0 {
            		runtime.LockOSThread()
            	}
            	for i := 0; i < %2$d; i++ {
            		sums[g] += words("a b c d") + int(spread(9, 1, 2, 3, 4, 5, 6, 7, i, 1.5, 2.5))
            		if i%%50 == 0 {
            			done := make(chan int)
            			go func() { done <- deep(%3$d) }()
            			sums[g] += <-done
            			tree(8)
            		}
            		if faults(&node{}) == nil {
            			panic("no fault")
            		}
            		runtime.Gosched()
            	}
            	sums[g] += fib(20)
            }

            func main() {
            	var profile bytes.Buffer
            	pprof.StartCPUProfile(&profile)
            	var all sync.WaitGroup
            	sums := make([]int, %1$d)
            	for g := range sums {
            		all.Add(1)
            		go func(g int) {
            			defer all.Done()
            			work(g, sums)
            		}(g)
            	}
            	all.Wait()
            	pprof.StopCPUProfile()
            	me, err := user.Current()
            	out, failed := exec.Command("echo", "child").Output()
            	fmt.Println(sums, me.Uid, err, strings.TrimSpace(string(out)), failed, profile.Len() > 0)
            }
            """.formatted(GOROUTINES, ROUNDS, DEPTH);

    /// Calls a function of libc by cgo, and one of its own, for each line that it reads.
    private static final String CALLER = """
            package main

            // #include <unistd.h>
            import "C"
            import (
            	"bufio"
            	"fmt"
            	"os"
            )

            //go:noinline
            func parent() bool { return int(C.getppid()) == os.Getppid() }

            func main() {
            	in := bufio.NewScanner(os.Stdin)
            	fmt.Println("ready")
            	for in.Scan() {
            		for i := 0; i < 1000; i++ {
            			if !parent() {
            				panic("another parent")
            			}
            		}
            		fmt.Println("done")
            	}
            }
            """;

    private static final String IN_GO = " functions in Go: metrics do not see them, the profile counts their calls";

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"-buildmode=exe", "-buildmode=pie -ldflags=-linkmode=external", "-ldflags=-s"})
    void shouldCountTheCallsOfGoroutines(String flags) throws Exception {
        build("program", PROGRAM, "1", flags);
        Dist.Outcome alone = Dist.run(directory, Map.of("GOGC", "5"), List.of("./program"));

        Dist.Outcome outcome = run("--exact");

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.text()).isEqualTo(alone.text());
        long deep = GOROUTINES * ((ROUNDS + 49) / 50);
        assertThat(Dist.calls(Dist.report(directory, directory.resolve("session"))))
                .containsEntry("main.main", 1L)
                .containsEntry("main.work", GOROUTINES)
                .containsEntry("main.words", GOROUTINES * ROUNDS)
                .containsEntry("main.faults", GOROUTINES * ROUNDS)
                .containsEntry("main.spread", 2 * GOROUTINES * ROUNDS)
                .containsEntry("main.deep", deep * (DEPTH + 1))
                .containsEntry("main.tree", deep * ((1 << 9) - 1))
                .containsEntry("main.fib", GOROUTINES * 21_891L)
                .containsEntry("os/exec.Command", 1L);
    }

    @Test
    void shouldComputeTheSameWhileProbesToggle() throws Exception {
        build("program", PROGRAM, "1", "-buildmode=exe");
        Dist.Outcome alone = Dist.run(directory, Map.of("GOGC", "5"), List.of("./program"));

        Dist.Outcome outcome = run("--sliced=*", "--budget=100");

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.text()).isEqualTo(alone.text());
    }

    @Test
    void shouldSayWhyAProgramWithoutLibcHasNone() throws Exception {
        build("program", PROGRAM, "0", "-buildmode=pie");

        Dist.Outcome outcome = run("--exact");
        Dist.Outcome doctor = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", "./program"));

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(Files.readString(directory.resolve("session/agent.log")))
                .contains("its threads are made by Go itself, not by libc; build it with CGO_ENABLED=1");
        assertThat(doctor.text()).contains("its threads are made by Go itself, not by libc");
    }

    @Test
    void shouldSayThatMetricsDoNotSeeFunctionsInGo() throws Exception {
        build("caller", CALLER, "1", "-buildmode=exe");
        Path session = directory.resolve("session");
        Process process =
                Dist.start(List.of(directory.resolve("caller").toString()), "exact,include=main.*,session=" + session);
        try {
            assertThat(process.inputReader().readLine()).isEqualTo("ready");
            for (String metric : List.of("procedure_calls", "exec_time")) {
                for (String focus : List.of("", "@/Code/caller/main.parent", "@/Code/caller/*", "@/Code/caller.go")) {
                    assertThat(Dist.ask(session, "metric enable " + metric + focus))
                            .as(metric + focus)
                            .startsWith("error ")
                            .endsWith(IN_GO + "\n");
                }
            }
            assertThat(Dist.ask(session, "metric enable procedure_calls@/Code/caller/runtime.mallocgc"))
                    .isEqualTo("error caller!runtime.mallocgc has no probe: "
                            + process.info().command().orElseThrow()
                            + ": in Go, functions get probes only when the program starts\n");

            // What is not Go's is measured as everywhere.
            for (String metric : List.of("procedure_calls", "exec_time")) {
                assertThat(Dist.ask(session, "metric enable " + metric + "@/Code/libc.so.6/getppid"))
                        .startsWith("ok\n")
                        .doesNotContain(IN_GO);
            }
            assertThat(Dist.ask(session, "metric enable procedure_calls"))
                    .startsWith("ok\n")
                    .contains(IN_GO);
            process.outputWriter().write("go\n");
            process.outputWriter().flush();
            assertThat(process.inputReader().readLine()).isEqualTo("done");
            Map<String, Double> counted = Dist.metrics(directory, session);
            assertThat(counted).containsEntry("procedure_calls@/Code/libc.so.6/getppid", 1000.0);
            assertThat(counted.get("exec_time@/Code/libc.so.6/getppid")).isPositive();
            assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("main.parent", 1000L);
            process.outputWriter().close();
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private Dist.Outcome run(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "run", "-o", "session"));
        command.addAll(List.of(options));
        command.addAll(List.of("--", "./program"));
        return Dist.run(directory, Map.of("GOGC", "5"), command);
    }

    private void build(String name, String source, String cgo, String flags) throws Exception {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(entry -> Files.isExecutable(Path.of(entry, "go"))),
                "go is not installed; it is in Debian's package golang-go");
        Files.writeString(directory.resolve(name + ".go"), source);
        List<String> command = new ArrayList<>(List.of("go", "build", "-o", name));
        command.addAll(List.of(flags.split(" ")));
        command.add(name + ".go");
        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(
                        "GO111MODULE",
                        "off",
                        "CGO_ENABLED",
                        cgo,
                        "GOCACHE",
                        Path.of(System.getProperty("java.io.tmpdir"), "mdl-go-cache")
                                .toString()),
                command);
        assertThat(outcome.status()).as(outcome.err()).isZero();
    }
}
