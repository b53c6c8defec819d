package org.mdlagent.runtime.cli.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.cli.Mdl;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.mdl.Resources;

/// The stages of compilation, as people see them.
class CompileCommandTest {
    private static final Pattern INSTRUCTION = Pattern.compile("^ +([0-9a-f]+)  ([0-9a-f]+) +\\S", Pattern.MULTILINE);

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int compile(String... arguments) {
        Console console = new Console(stream(out), stream(err), false, false);
        SessionStore store = new SessionStore(List.of(directory), directory.resolve("memory"), notice -> {});
        List<String> all = new ArrayList<>(List.of("compile"));
        all.addAll(List.of(arguments));
        return new Mdl(console, store, new Installation(directory)).execute(all.toArray(String[]::new));
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    private static Path file(String name) {
        return Resources.in("compile").stream()
                .filter(path -> path.endsWith(name + ".mdl"))
                .findFirst()
                .orElseThrow();
    }

    private String dump(String name, String stage, String focus) {
        assertThat(compile("--dump=" + stage, "--focus=" + focus, file(name).toString()))
                .isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
        return out.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({
        "paper, ir, /Code/myprog.c/foo",
        "paper, asm, /Code/myprog.c/foo",
        "values, ir, /Code/myprog.c/foo",
        "values, asm, /Code/myprog.c/foo",
        "calls, ir, /Code/called.c/audit",
        "calls, asm, /Code/called.c/audit"
    })
    void shouldShowEachStage(String name, String stage, String focus) throws Exception {
        String shown = dump(name, stage, focus);

        assertThat(shown).isEqualTo(Resources.expected(file(name), stage, shown));
    }

    /// GNU objdump sees the same instructions.
    @Test
    void shouldPrintEveryInstruction() throws Exception {
        List<String> ours = new ArrayList<>();
        Matcher printed = INSTRUCTION.matcher(dump("values", "asm", "/Code/myprog.c/foo"));
        List<byte[]> codes = new ArrayList<>();
        ByteArrayOutputStream code = new ByteArrayOutputStream();
        while (printed.find()) {
            if (printed.group(1).equals("1000") && code.size() > 0) {
                codes.add(code.toByteArray());
                code.reset();
            }
            code.write(HexFormat.of().parseHex(printed.group(2)));
            ours.add(printed.group(1) + " " + printed.group(2));
        }
        codes.add(code.toByteArray());

        List<String> theirs = new ArrayList<>();
        for (byte[] one : codes) {
            theirs.addAll(objdump(one));
        }
        assertThat(ours).hasSizeGreaterThan(50).isEqualTo(theirs);
    }

    private List<String> objdump(byte[] code) throws Exception {
        Path binary = Files.write(directory.resolve("code.bin"), code);
        Process process = new ProcessBuilder(
                        "objdump",
                        "-D",
                        "-b",
                        "binary",
                        "-m",
                        "i386:x86-64",
                        "-w",
                        "--adjust-vma=0x1000",
                        binary.toString())
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output.lines()
                .map(line -> line.split("\t"))
                .filter(columns -> columns.length > 2)
                .map(columns -> columns[0].strip().replace(":", "") + " " + columns[1].replace(" ", ""))
                .toList();
    }

    @Test
    void shouldNameWhatIsWrongWithTheFocus() {
        assertThat(compile("--dump=ir", "--focus=/Cod/x", file("paper").toString()))
                .isEqualTo(CommandFailure.USAGE);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("there is no hierarchy /Cod, did you mean '/Code'?");
    }

    @Test
    void shouldNotWaitForAPipe() throws Exception {
        Path pipe = directory.resolve("pipe.mdl");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertThat(compile(pipe.toString())).isEqualTo(CommandFailure.FAILED);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("it is not a regular file");
    }

    @Test
    void shouldQuoteNoControlOfTheFilesOnATerminal() throws Exception {
        Path hostile = Files.writeString(directory.resolve("hostile.mdl"), "metric \u001b]0;x\u0007 \u202e {\n");

        compile(hostile.toString());

        assertThat(err.toString(StandardCharsets.UTF_8)).doesNotContain("\u001b", "\u0007", "\u202e");
    }
}
