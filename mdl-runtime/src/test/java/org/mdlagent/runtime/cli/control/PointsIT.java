package org.mdlagent.runtime.cli.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl points` shows the code of a running program; binutils say what stands in its file.
class PointsIT {
    private static final String SOURCE = """
            #include <stdio.h>
            __attribute__((noinline, noclone)) static long work(long *x) {
                __asm__ volatile("" ::: "rbx", "r12", "memory");
                return x[0] * 3 + x[1];
            }
            int main(int n, char **words) {
                long x[2] = {n, 1};
                puts("ready");
                fflush(stdout);
                getchar();
                return work(x) == 1;
            }
            """;

    @TempDir
    Path directory;

    private @Nullable Process process;

    @AfterEach
    void end() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    /// The first instructions of the function are pushes, of one and of two bytes.
    @Test
    void shouldShowWhatAJumpOverInstructionsCovers() throws Exception {
        String said = points("-O2", "exact", "work");

        assertThat(said)
                .containsPattern("^work  function at [0-9a-f]+ of .*/points: a jump over \\d instructions?, now on\n")
                .containsPattern("(?m)^  on: one store of 5 bytes at [0-9a-f]+$")
                .containsPattern("(?m)^  stub at [0-9a-f]+$");
        String off = bytes(said, "off");
        assertThat(off).hasSizeGreaterThanOrEqualTo(10);
        assertThat(fileBytes("work")).startsWith(off);
        String on = bytes(said, "on: .*");
        assertThat(on).startsWith("e9").hasSameSizeAs(off).endsWith(off.substring(10));
        String copy = bytes(said, "copy, where the function goes on");
        assertThat(copy).as("instructions that nothing is relative in").startsWith(off);
        Matcher hop = Pattern.compile("(?m)^  hop\n {4}([0-9a-f]+) .* jmp 0x([0-9a-fA-F]+)$")
                .matcher(said);
        if (hop.find()) {
            assertThat(said)
                    .containsPattern("(?m) jmp 0x0*" + hop.group(1).toUpperCase(Locale.ROOT) + "$")
                    .containsPattern("(?mi)^  stub at 0*" + hop.group(2).replaceFirst("^0+", "") + "$");
        }
    }

    /// A line ends within the first five bytes, whatever the processor's unit is: no store can switch them.
    @Test
    void shouldShowAGateAndTheFunctionsOwnBytes() throws Exception {
        Files.writeString(directory.resolve("split.s"), """
            .p2align 6
            .skip 62
            .type split, @function
            split: .cfi_startproc
            push %rbx
            .cfi_def_cfa_offset 16
            .cfi_offset %rbx, -16
            mov $7, %ebx
            mov %ebx, %eax
            pop %rbx
            .cfi_def_cfa_offset 8
            ret
            .cfi_endproc
            .size split, . - split
            """);
        String said = points("-O2 split.s", "exact", "split");

        Matcher own = Pattern.compile("^split  function at ([0-9a-f]+) of .*: a jump in steps, to a gate, now on\n"
                        + "  its bytes now\n {4}\\1  e9[0-9a-f]{8} ")
                .matcher(said);
        assertThat(own.find()).as(said).isTrue();
        assertThat(own.group(1)).endsWith("e");
        Matcher gate = Pattern.compile("(?m)^  gate, off\n {4}([0-9a-f]+)  e9.*\n"
                        + "  gate, on: one store of \\d bytes at ([0-9a-f]+)\n {4}\\1  e9.*\n")
                .matcher(said);
        assertThat(gate.find()).as(said).isTrue();
        assertThat(gate.group(1)).isNotEqualTo(own.group(1));
        assertThat(bytes(said, "copy, where the function goes on")).startsWith("53bb07000000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-O1 -fpatchable-function-entry=5", "-O1 -fpatchable-function-entry=7,5"})
    void shouldShowWhatACompilerHasLeft(String flags) throws Exception {
        String said = points(flags, "profile=off", "points!wor?");

        assertThat(said)
                .containsPattern("^work  function at [0-9a-f]+ of .*: left by the compiler \\(nop.*\\), now off\n");
        assertThat(bytes(said, "on: .*")).isNotEqualTo(bytes(said, "off"));
        assertThat(said).doesNotContain("copy");
    }

    @Test
    void shouldShowEachSiteOfAFunction() throws Exception {
        String said = points("-O1 -finstrument-functions", "exact", "work");

        assertThat(said)
                .containsPattern("(?m)^work  entry at .*, now on$")
                .containsPattern("(?m)^work  (sibling )?exit at ");
    }

    @Test
    void shouldSayThatThereIsNone() throws Exception {
        start("-O2", "exact");

        Dist.Outcome none = mdl("points", pid(), "absent");

        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err()).contains("no function with probes is absent");
    }

    private String points(String flags, String options, String function) throws Exception {
        start(flags, options);
        Dist.Outcome shown = mdl("points", pid(), function);
        assertThat(shown.status()).as(shown.err()).isZero();
        return shown.text();
    }

    private String pid() {
        return directory.resolve("session").toString();
    }

    private Dist.Outcome mdl(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(words));
        return Dist.run(directory, Map.of(), command);
    }

    private void start(String flags, String options) throws Exception {
        Path source = Files.writeString(directory.resolve("points.c"), SOURCE);
        List<String> command = new ArrayList<>(List.of("gcc"));
        command.addAll(List.of(flags.split(" ")));
        command.addAll(List.of("-o", "points", source.toString()));
        assertThat(Dist.run(directory, Map.of(), command).status()).isZero();
        String program = directory.resolve("points").toString();
        Process started = Dist.start(List.of(program), options + ",wait,session=" + directory.resolve("session"));
        process = started;
        assertThat(started.inputReader().readLine()).isEqualTo("ready");
    }

    /// Of one of the listings.
    private static String bytes(String said, String title) {
        Matcher listing = Pattern.compile("(?m)^  " + title + "\n((?: {4}[0-9a-f]+ .*\n)+)")
                .matcher(said);
        assertThat(listing.find()).as(said).isTrue();
        StringBuilder bytes = new StringBuilder();
        listing.group(1).lines().forEach(line -> bytes.append(line.strip().split(" +")[1]));
        return bytes.toString();
    }

    /// As binutils read them.
    private String fileBytes(String function) throws Exception {
        String listing = Dist.run(
                        directory, Map.of(), List.of("objdump", "-d", "-w", "--disassemble=" + function, "points"))
                .text();
        StringBuilder bytes = new StringBuilder();
        Matcher line =
                Pattern.compile("(?m)^ +[0-9a-f]+:\t([0-9a-f ]+?) *(\t|$)").matcher(listing);
        while (line.find()) {
            bytes.append(line.group(1).replace(" ", ""));
        }
        return bytes.toString();
    }
}
