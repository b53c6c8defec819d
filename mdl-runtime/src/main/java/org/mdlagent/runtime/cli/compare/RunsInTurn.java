package org.mdlagent.runtime.cli.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.run.MeasuredProgram;
import org.mdlagent.runtime.cli.terminal.Console;

/// Runs two programs in turn, A B B A A B B A ...: a machine that gets slower or faster meanwhile affects
/// both. One run of each comes first and does not count: it warms up the page cache.
///
/// @param kept directory that keeps the sessions, as `a-1`, `b-1`, ...; null for none
record RunsInTurn(
        CommandContext mdl,
        MeasuredProgram first,
        MeasuredProgram second,
        int runs,
        @Nullable Path kept) {
    /// The results of the runs, in order.
    record Series(List<RunProfile> before, List<RunProfile> after) {}

    Series run() throws IOException {
        Files.createDirectories(mdl.store().root());
        Path temporary = Files.createTempDirectory(
                mdl.store().root(),
                "diff-",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try {
            return run(temporary, kept == null ? temporary : kept);
        } finally {
            remove(temporary);
            mdl.store().reclaim();
            progress("");
        }
    }

    private Series run(Path temporary, Path sessions) throws IOException {
        Path output = temporary.resolve("output");
        Series series = new Series(new ArrayList<>(), new ArrayList<>());
        long began = System.nanoTime();
        for (int run = 0; run <= runs; run++) {
            for (int half = 0; half < 2; half++) {
                boolean isFirst = (run + half) % 2 == 0;
                progress(text(run, isFirst, 2 * run + half, began));
                MeasuredProgram program = isFirst ? first : second;
                if (run == 0) {
                    program.run(temporary.resolve(isFirst ? "a-0" : "b-0"), output);
                } else {
                    Path session = sessions.resolve((isFirst ? "a-" : "b-") + run);
                    (isFirst ? series.before : series.after).add(program.run(session, output));
                }
            }
        }
        return series;
    }

    private String text(int run, boolean isFirst, int done, long began) {
        String what = run == 0 ? "warm-up" : "run " + run + " of " + runs;
        double seconds = (System.nanoTime() - began) / 1e9;
        String left = done < 2 ? "" : " · " + Math.round(seconds / done * (2 * runs + 2 - done)) + " s left";
        return (isFirst ? "A" : "B") + ": " + what + left;
    }

    /// On a terminal only, on a single line.
    private void progress(String text) {
        Console console = mdl.console();
        if (console.errIsTerminal()) {
            console.err().print("\r\033[K" + text);
            console.err().flush();
        }
    }

    private static void remove(Path directory) throws IOException {
        try (Stream<Path> entries = Files.walk(directory)) {
            for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(entry);
            }
        }
    }
}
