package org.mdlagent.bench.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.mdlagent.bench.report.Truth;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;

/// Programs that count and time their own functions: see `truth.h`.
enum KnowingProgram {
    SERVICE,
    RECURSIVE,
    PHASES,
    MANY,
    COROUTINES;

    /// @return whether there is one of such a name
    static boolean exists(String name) {
        return Arrays.stream(values()).anyMatch(program -> program.toString().equals(name));
    }

    static KnowingProgram named(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    Path executable() throws IOException, InterruptedException {
        Path output = SourceTree.scratch("knowing-" + this).resolve(toString());
        return Build.PATCHABLE.compile(
                output, List.of("-O2", "-g", "-pthread"), List.of(SourceTree.work("trust/" + this + ".c")));
    }

    /// @param truth the file that it writes
    static List<String> command(Path executable, int seconds, Path truth) {
        return List.of(executable.toString(), Integer.toString(seconds), truth.toString());
    }

    static List<Truth> truths(Path written) throws IOException {
        List<Truth> truths = new ArrayList<>();
        for (String line : Files.readAllLines(written)) {
            truths.add(Truth.parse(line));
        }
        return truths;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
