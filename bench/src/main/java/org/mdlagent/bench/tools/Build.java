package org.mdlagent.bench.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a program gets its probe sites.
public enum Build {
    PLAIN("gcc", List.of(), List.of()),
    /// Without probe sites; the function has the usual prologue, with instruction heads under a jump.
    FRAMED("gcc", List.of("-fno-omit-frame-pointer", "-DFRAME"), List.of()),
    /// With a function that reads its own return address.
    READER("gcc", List.of("-DREAD_RETURN_ADDRESS"), List.of()),
    /// With a function that reads the clock as often as its timing does.
    CLOCK("gcc", List.of("-DREAD_CLOCK"), List.of()),
    /// With a function that adds 1 to a variable.
    COUNTER("gcc", List.of("-DCOUNT"), List.of()),
    HOOKS("gcc", List.of("-finstrument-functions"), List.of()),
    /// With counters instead of hooks, which are no probe sites.
    INLINED(
            "gcc",
            List.of(
                    "-finstrument-functions",
                    "-include",
                    SourceTree.source("inlined.h").toString()),
            List.of()),
    /// For tools that change return addresses at each entry. For programs compiled and linked by one command.
    HIJACKED("gcc", List.of("-pg", "-mfentry", SourceTree.source("hijack.S").toString()), List.of()),
    PATCHABLE("gcc", List.of("-fpatchable-function-entry=5"), List.of()),
    FENTRY("gcc", List.of("-pg", "-mfentry"), List.of()),
    MCOUNT("gcc", List.of("-pg"), List.of()),
    /// With gprof's start-up code.
    GPROF("gcc", List.of("-pg"), List.of("-pg")),
    PLAIN_CLANG("clang", List.of(), List.of()),
    XRAY("clang", List.of("-fxray-instrument", "-fxray-instruction-threshold=1"), List.of("-fxray-instrument"));

    private static final List<String> CLANGS = List.of("clang", "clang-19", "clang-16", "clang-14");

    private final String compiler;
    private final List<String> flags;
    private final List<String> link;

    Build(String compiler, List<String> flags, List<String> link) {
        this.compiler = compiler;
        this.flags = flags;
        this.link = link;
    }

    /// The compiler's command, or null.
    @Nullable
    public String compiler() {
        if (compiler.equals("gcc")) {
            return compiler;
        }
        return CLANGS.stream().filter(Build::isCommand).findFirst().orElse(null);
    }

    /// For the compiler.
    List<String> flags() {
        return flags;
    }

    /// Compiles each source by itself, all at once, and links them.
    ///
    /// @param more flags, for the compiler and the linker
    /// @return `output`
    public Path compile(Path output, List<String> more, List<Path> sources) throws IOException, InterruptedException {
        String command = Objects.requireNonNull(compiler());
        List<Process> compilers = new ArrayList<>();
        List<String> linker = new ArrayList<>(List.of(command, "-o", output.toString()));
        for (Path source : sources) {
            String object = output + "-" + source.getFileName() + ".o";
            List<String> line = new ArrayList<>(List.of(command, "-c", "-o", object, source.toString()));
            line.addAll(flags);
            line.addAll(more);
            compilers.add(start(line));
            linker.add(object);
        }
        for (Process process : compilers) {
            finish(process, output);
        }
        linker.addAll(link);
        linker.addAll(more);
        finish(start(linker), output);
        return output;
    }

    private static Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static void finish(Process process, Path output) throws IOException, InterruptedException {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(output.getFileName() + " cannot be built: " + said);
        }
    }

    /// The relevant flags.
    @Override
    public String toString() {
        return flags.isEmpty() ? compiler : compiler.equals("gcc") ? String.join(" ", flags) : flags.getFirst();
    }

    public static boolean isCommand(String name) {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(directory, name))) {
                return true;
            }
        }
        return false;
    }
}
