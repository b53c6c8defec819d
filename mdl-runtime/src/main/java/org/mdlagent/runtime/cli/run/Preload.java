package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOptionsText;

/// Whether the agent can be loaded with a program, and by which path. Reports obstacles to the user.
final class Preload {
    private final Installation installation;
    private final Console console;
    private boolean probed;

    Preload(Installation installation, Console console) {
        this.installation = installation;
        this.console = console;
    }

    /// The library to load with a program; null to run it without the agent.
    @Nullable
    Path library(String program) throws IOException {
        return agentFits(program) ? preloadable() : null;
    }

    /// Whether the program of [#library] was found to have probes, so that a report is expected.
    boolean isProbed() {
        return probed;
    }

    /// Whether the program can run under the agent. Reports it if not, or if there will be nothing to see.
    private boolean agentFits(String name) throws IOException {
        if (installation.existingLibrary() == null) {
            console.say(
                    installation.library() + " is missing: the program runs without the agent", "mdl doctor says more");
            return false;
        }
        Path path = ProgramFile.find(name, System.getenv("PATH"));
        if (path == null || !Files.isReadable(path) || !Files.isRegularFile(path)) {
            return true;
        }
        ProgramFile file = ProgramFile.examine(path);
        String explains = "mdl doctor " + name + " explains";
        if (file.kind() == ProgramFile.Kind.OTHER) {
            return true;
        }
        if (file.kind() == ProgramFile.Kind.FOREIGN_ELF) {
            console.say(name + " is not a program for 64-bit x86: it runs without the agent", explains);
            return false;
        }
        if (!file.dynamic()) {
            console.say(
                    name + " is statically linked: nothing can be loaded with it, it runs without the agent", explains);
            return false;
        }
        if (file.otherLibc()) {
            console.say(name + " is linked with musl: it runs without the agent, which needs glibc", explains);
            return false;
        }
        if (file.setUser() && Posix.effectiveUser() != 0) {
            console.say(name + " changes its user: the system preloads nothing into it", explains);
            return false;
        }
        if (file.java()) {
            console.say(name + " hosts a Java runtime already: it runs without the agent", explains);
            return false;
        }
        if (file.sanitizer() != null && !sanitizerAllows(file.sanitizer())) {
            console.say(
                    name + " is built with " + file.sanitizer() + ": it runs without the agent",
                    file.sanitizer().equals("ASan")
                            ? "try: ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 mdl run ..."
                            : explains);
            return false;
        }
        probed = file.instrumentation() != null || !file.gprof();
        if (!probed) {
            console.say(
                    name + " is linked with -pg: it measures itself with gprof, to which its calls are left",
                    "compile it with -pg, but link it without (" + explains + ")");
        }
        return true;
    }

    private static boolean sanitizerAllows(String sanitizer) {
        String options = System.getenv("ASAN_OPTIONS");
        return sanitizer.equals("ASan") && options != null && options.contains("verify_asan_link_order=0");
    }

    /// A path of the library that `LD_PRELOAD` can hold. Null, after a report, if there is none.
    private @Nullable Path preloadable() {
        try {
            return installation.preloadable().library();
        } catch (IOException e) {
            console.say(
                    installation.library() + " cannot be preloaded, the program runs without the agent: "
                            + e.getMessage(),
                    "move the installation to a directory without a blank in its name");
            return null;
        }
    }

    /// Names and values of the variables that load the agent with a program.
    static List<String[]> environment(Path library, AgentOptionsText options) {
        return List.of(
                new String[] {"MDL_OPTIONS", options.toString()}, new String[] {"LD_PRELOAD", variable(library)});
    }

    /// `LD_PRELOAD` with the library before its present contents.
    private static String variable(Path library) {
        String ours = library.toString();
        String others = System.getenv("LD_PRELOAD");
        return others == null || others.isEmpty() ? ours : ours + ":" + others;
    }
}
