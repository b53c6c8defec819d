package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;
import org.mdlagent.profiler.report.session.SessionReader;

/// Time until a report at a budget of 1 % shows a function that takes a tenth of the time, in a stripped program
/// that calls forty thousand functions: hot from the start, or hot later.
///
/// It is found once a report attributes 5 to 20 % of the time since then to it, as TOTAL or as CPU time.
public final class TimeToFind {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 5);
    private static final int FUNCTIONS = 40_000;

    private static final long LATE_MILLIS = 10_000;
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final long POLL_MILLIS = 50;
    private static final double LEAST = 0.05;
    private static final double MOST = 0.20;

    private final Path directory = SourceTree.scratch("find");
    private final Path program;
    private final String symbol;

    private TimeToFind() throws IOException, InterruptedException {
        Path linked = program();
        symbol = "stripped+0x" + Long.toHexString(address(linked));
        program = directory.resolve("stripped");
        if (new ProcessBuilder("strip", "-o", program.toString(), linked.toString())
                        .start()
                        .waitFor()
                != 0) {
            throw new IOException("the program cannot be stripped");
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Machine machine = Machine.of(SourceTree.harness());
        TimeToFind find = new TimeToFind();
        double[] armed = new double[ROUNDS];
        double[] fromStart = new double[ROUNDS];
        double[] late = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(round, ROUNDS);
            double[] seconds = find.measure(0);
            armed[round] = seconds[0];
            fromStart[round] = seconds[1];
            late[round] = find.measure(LATE_MILLIS)[1];
        }
        try (Report report = new Report("found", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "A stripped program of %,d functions, all called; one has a tenth of the time; budget 1 %%; %d rounds",
                    FUNCTIONS,
                    ROUNDS));
            report.heading("SECONDS");
            report.row("from the start of the process until all probes are in place", armed);
            report.row(
                    "from then on, when main begins, until it is found",
                    fromStart,
                    Target.BARE_FOUND,
                    "from the start of main",
                    "");
            report.row(
                    "from when it begins, 10 s later, until it is found",
                    late,
                    Target.BARE_FOUND,
                    "a function that begins late",
                    "");
        }
    }

    /// @return time until the probes are in place, and time from the function's start until it is found
    private double[] measure(long pauseMillis) throws IOException, InterruptedException {
        Path run = SourceTree.scratch("run");
        long start = System.nanoTime();
        Process process =
                new Tracer.Agent("budgetPercent=1", true).start(program, run).start();
        try (BufferedReader output = process.inputReader();
                Writer input = process.outputWriter()) {
            expect(output, "ready");
            double armed = (System.nanoTime() - start) / 1e9;
            Thread.sleep(pauseMillis);
            input.write('\n');
            input.flush();
            expect(output, "hot");
            return new double[] {armed, await(Tracer.Agent.session(run))};
        } finally {
            int unused = process.destroyForcibly().waitFor();
        }
    }

    private static void expect(BufferedReader output, String line) throws IOException {
        if (!line.equals(output.readLine())) {
            throw new IOException("the program does not say " + line);
        }
    }

    private double await(Path session) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        for (long now = begin; now - begin < PATIENCE_NANOS; now = System.nanoTime()) {
            try (SessionReader reader = SessionReader.open(session)) {
                double since = System.nanoTime() - begin;
                boolean found = reader.profile().functions().stream()
                        .filter(function -> function.symbol().equals(symbol))
                        .flatMap(function -> Stream.of(function.shownTotalNanos(), function.shownCpuNanos()))
                        .mapToDouble(own -> own.orElse(0) / since)
                        .anyMatch(part -> part >= LEAST && part <= MOST);
                if (found) {
                    return (System.nanoTime() - begin) / 1e9;
                }
            }
            Thread.sleep(POLL_MILLIS);
        }
        throw new IOException("the function is not found");
    }

    /// In assembly, because a compiler takes minutes for so many functions.
    private Path program() throws IOException, InterruptedException {
        StringBuilder text = new StringBuilder(".text\n");
        StringBuilder table = new StringBuilder(".section .data.rel.ro, \"aw\"\n.globl functions\nfunctions:\n");
        for (int i = 0; i < FUNCTIONS; i++) {
            text.append(function(i));
            table.append(".quad f").append(i).append('\n');
        }
        table.append(".globl function_count\nfunction_count: .quad ").append(FUNCTIONS);
        table.append("\n.section .note.GNU-stack, \"\", @progbits\n");
        Path functions = Files.writeString(directory.resolve("functions.s"), text.append(table));
        return Build.PLAIN.compile(
                directory.resolve("linked"),
                List.of("-O1", "-pthread"),
                List.of(SourceTree.source("found.c"), functions));
    }

    private static String function(int number) {
        return """
            .p2align 4
            .type f%1$d, @function
            f%1$d: .cfi_startproc
            push %%rbx
            .cfi_def_cfa_offset 16
            mov $64, %%ecx
            0: imul $1103515245, %%rdi, %%rdi
            add $12345, %%rdi
            dec %%ecx
            jnz 0b
            lea %1$d(%%rdi), %%rax
            pop %%rbx
            .cfi_def_cfa_offset 8
            ret
            .cfi_endproc
            .size f%1$d, . - f%1$d
            """.formatted(number);
    }

    private static long address(Path linked) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("nm", linked.toString()).start();
        String names = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int unused = process.waitFor();
        return names.lines()
                .filter(line -> line.endsWith(" T hot"))
                .mapToLong(line -> Long.parseUnsignedLong(line.substring(0, line.indexOf(' ')), 16))
                .findFirst()
                .orElseThrow();
    }
}
