package org.mdlagent.bench.metrics;

import static java.lang.String.format;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.ControlSocket;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// Measures how long it takes to start counting calls of about a hundred functions of a running, stripped program
/// as Debian ships it: from `mdl enable` with a pattern until the agent answers that all of their probes count.
public final class HundredFunctions {
    private static final Path PROGRAM = Path.of("/usr/bin/perl");
    private static final String WORK =
            "$| = 1; print qq(ready\\n); for (;;) { for (1..1000) { $h{$_ % 97} .= chr(65 + $_ % 26) } %h = () }";

    private static final int REQUESTS = Integer.getInteger("mdl.bench.requests", 41);
    private static final int WANTED = 100;
    private static final long SETTLE_MILLIS = 1_000;

    private final ControlSocket control;
    private final double[] millis = new double[REQUESTS];

    private HundredFunctions(Path session) {
        control = new ControlSocket(session);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Machine machine = Machine.of(SourceTree.harness());
        Path directory = SourceTree.scratch("run");
        ProcessBuilder builder = new Tracer.Agent("budgetPercent=1", true).start(PROGRAM, directory);
        builder.command().addAll(List.of("-e", WORK));
        Process process = builder.start();
        try (BufferedReader output = process.inputReader()) {
            if (!"ready".equals(output.readLine())) {
                throw new IOException(PROGRAM + " does not start");
            }
            Thread.sleep(SETTLE_MILLIS);
            Path session = Tracer.Agent.session(directory);
            HundredFunctions hundred = new HundredFunctions(session);
            String pattern = hundred.pattern();
            int functions = hundred.measure("procedure_calls@" + pattern);
            double[] commands = commands(session, "procedure_calls@" + pattern);
            try (Report report = new Report("hundred", machine)) {
                hundred.print(report, pattern, functions, commands);
            }
        } finally {
            int unused = process.destroyForcibly().waitFor();
        }
    }

    /// For functions without names: an address prefix that matches about a hundred.
    private String pattern() throws IOException {
        Map<String, Long> counts = resources().stream()
                .filter(path -> path.matches("/Code/.*\\+0x[0-9a-f]+"))
                .flatMap(path -> IntStream.rangeClosed(2, 4).mapToObj(end -> path.substring(0, path.length() - end)))
                .collect(Collectors.groupingBy(prefix -> prefix, Collectors.counting()));
        return counts.entrySet().stream()
                        .min(Comparator.comparingLong(
                                        (Map.Entry<String, Long> each) -> Math.abs(each.getValue() - WANTED))
                                .thenComparing(Map.Entry::getKey))
                        .orElseThrow()
                        .getKey()
                + "*";
    }

    private List<String> resources() throws IOException {
        List<String> all = new ArrayList<>();
        List<String> part;
        do {
            part = control.ask("metric resources " + all.size()).lines().toList();
            all.addAll(part);
        } while (!part.isEmpty());
        return all;
    }

    /// @return functions of one request
    private int measure(String request) throws IOException {
        int functions = 0;
        for (int i = 0; i < REQUESTS; i++) {
            long start = System.nanoTime();
            String answer = control.ask("metric force " + request);
            millis[i] = (System.nanoTime() - start) / 1e6;
            functions = Integer.parseInt(answer.substring(0, answer.indexOf('\t')));
            String unused = control.ask("metric disable " + request);
        }
        return functions;
    }

    /// Including the start of the command's JVM.
    private static double[] commands(Path session, String request) throws IOException, InterruptedException {
        double[] millis = new double[5];
        String mdl = SourceTree.distribution().resolve("bin/mdl").toString();
        for (int i = 0; i < millis.length; i++) {
            long start = System.nanoTime();
            run(mdl, "enable", "--force", session.toString(), request);
            millis[i] = (System.nanoTime() - start) / 1e6;
            run(mdl, "disable", session.toString(), request);
        }
        return millis;
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int status = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start()
                .waitFor();
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ends with status " + status);
        }
    }

    private void print(Report report, String pattern, int functions, double[] commands) {
        report.line(format(
                Locale.ROOT,
                "%s runs; procedure_calls of %s, %d functions; %d requests",
                PROGRAM,
                pattern,
                functions,
                REQUESTS));
        report.heading("MILLISECONDS UNTIL THE AGENT HAS ANSWERED");
        report.row("the first request", new double[] {millis[0]});
        double[] later = Arrays.copyOfRange(millis, 1, REQUESTS);
        report.row("all later ones", later, Target.BARE_HUNDRED, functions + " functions of perl", "");
        report.part(
                Target.BARE_HUNDRED,
                functions + " functions of perl",
                "each function",
                Percentile.median(later) / functions);
        report.row("mdl enable, until the command has ended", commands);
    }
}
