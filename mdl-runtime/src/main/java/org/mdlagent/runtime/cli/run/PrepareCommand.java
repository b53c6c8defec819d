package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.DecoderLibrary;
import org.mdlagent.fastinst.provider.BareEntryProvider;
import org.mdlagent.fastinst.provider.KeptFacts;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.names.Demangler;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl prepare`: examines files, without running them, and keeps what the agent otherwise finds out at their first
/// start.
@Command(
        name = "prepare",
        description =
                "Examine the code of programs and libraries, without running them, so that their first start under the"
                        + " agent takes as little time as later ones.",
        customSynopsis = "mdl prepare FILE...")
public final class PrepareCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "A program or a shared library.")
    private List<Path> files = List.of();

    @Override
    public Integer call() throws IOException {
        Installation installation = mdl.installation();
        if (!Path.of(System.getProperty("java.home"))
                .toRealPath()
                .equals(installation.runtime().toRealPath())) {
            throw CommandFailure.failed(
                    "this is not the mdl of " + installation.home(), "run " + installation.home() + "/bin/mdl");
        }
        Path mdlState = Objects.requireNonNull(mdl.store().root().getParent());
        KeptFacts kept = new KeptFacts(new KeptLibrary(
                installation.library().resolveSibling("libmdlkept.so"), Objects.requireNonNull(mdlState.getParent())));
        DecoderLibrary decoder;
        try {
            decoder = new DecoderLibrary(installation.library().resolveSibling(""));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.failed("there is no decoder: " + e.getMessage(), "install mdl again");
        }
        int status = 0;
        for (Path file : files) {
            if (!prepare(file, decoder, kept)) {
                status = CommandFailure.FAILED;
            }
        }
        return status;
    }

    private boolean prepare(Path file, DecoderLibrary decoder, KeptFacts kept) {
        try (ElfFile elf = ElfFile.open(file)) {
            String reason = elf.buildId() == null
                    ? "it has no build id"
                    : elf.ehFrame() == null
                            ? "no unwind table lists its functions"
                            : elf.isGo() ? "it is in Go" : BareEntryProvider.leftAlone(file.toString());
            if (reason != null) {
                return fail("nothing can be kept about " + file + ": " + reason, null);
            }
            EntryCensus census = EntryCensus.of(
                    elf,
                    decoder::decode,
                    new Demangler(mdl.installation().demangler())::demangle,
                    BareEntryProvider.covered(file.toString()),
                    kept);
            long error = kept.write();
            if (error != 0) {
                return fail(
                        "facts about " + file + " cannot be kept: " + Posix.message(Math.toIntExact(-error)),
                        "set XDG_STATE_HOME to a directory that you can write to, here and for the program");
            }
            mdl.console()
                    .out()
                    .printf(
                            "%s: %,d functions are examined%n",
                            ForeignText.printable(file.toString()), census.functions());
            return true;
        } catch (IOException e) {
            return fail(String.valueOf(e.getMessage()), null);
        }
    }

    private boolean fail(String message, @Nullable String remedy) {
        mdl.console().say(message, remedy);
        return false;
    }
}
