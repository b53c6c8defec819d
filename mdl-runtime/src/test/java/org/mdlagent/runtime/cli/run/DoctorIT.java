package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl doctor` where something is refused: it says what, and what that means.
class DoctorIT {
    @TempDir
    Path directory;

    @Test
    void shouldExplainWhatASandboxRefuses() throws Exception {
        String confined = Dist.compile(directory, "confined").toString();

        Dist.Outcome outcome = doctor(confined);

        assertThat(outcome.text())
                .contains("note  seccomp        a filter decides on system calls")
                .contains("note  privileges     no_new_privs is set")
                .contains("STOP  kernel ")
                .contains("allow membarrier(2) in the sandbox");
        assertThat(outcome.status()).isEqualTo(1);
    }

    @Test
    void shouldExplainALimitOfTheAddressSpace() throws Exception {
        Dist.Outcome outcome = doctor("prlimit", "--as=" + (4L << 30));

        assertThat(outcome.text()).contains("note  address space  ulimit -v is 4096 MiB");
    }

    @Test
    void shouldExplainThatSharedMemoryIsTooSmall() throws Exception {
        Dist.Outcome outcome =
                doctor("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m none /dev/shm && exec \"$0\" \"$@\"");

        assertThat(outcome.text()).contains("note  /dev/shm       ").contains("a session may not fit");
    }

    @Test
    void shouldExplainSanitizers() throws Exception {
        assertThat(doctorOf("-fsanitize=address")).contains("note  sanitizers     ASan: set ASAN_OPTIONS=");
        assertThat(doctorOf("-fsanitize=thread")).contains("STOP  sanitizers     TSan does not bear the agent");
    }

    /// What it names is tried with ordinary C++ of two units, in each of which the linker leaves out what it has
    /// already.
    @ParameterizedTest
    @ValueSource(strings = {"g++", "clang++-14"})
    void shouldNameTheOptionThatBuildsCppWithProbes(String compiler) throws Exception {
        Dist.Outcome doctor = Dist.run(directory, Map.of("CXX", compiler), List.of(Dist.mdl(), "doctor", "/bin/true"));
        Matcher named = Pattern.compile("(?m)^ok {4}" + Pattern.quote(compiler)
                        + " +compile C\\+\\+ with (-.*?)(, and link without; .*)?$")
                .matcher(doctor.text());
        assertThat(named.find()).as(doctor.text()).isTrue();
        List<String> command = new ArrayList<>(List.of(compiler, "-O1", "-g"));
        command.addAll(List.of(named.group(1).split(" ")));
        for (String unit : List.of("units_other", "units_main")) {
            List<String> compile = new ArrayList<>(command);
            Path source = Path.of("src/test/c", unit + ".cc").toAbsolutePath();
            compile.addAll(List.of("-c", source.toString(), "-o", unit + ".o"));
            assertThat(Dist.run(directory, Map.of(), compile).err()).isEmpty();
        }
        List<String> link = new ArrayList<>(named.group(2) == null ? command : List.of(compiler));
        link.addAll(List.of("units_other.o", "units_main.o", "-o", "units", "-pthread"));
        assertThat(Dist.run(directory, Map.of(), link).err()).isEmpty();

        Path session = directory.resolve("session");
        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", session.toString(), "--", "./units"));

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(Dist.calls(Dist.report(directory, session)))
                .contains(
                        entry("main", 1L),
                        entry("_Z5otherRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", 7L),
                        entry("_ZN4Pile3addERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", 7L),
                        entry("_ZN5Tower3addERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", 5L),
                        entry("_Z4bumpIiET_S0_", 12L));
    }

    /// What it says of a program that nobody prepared is what the agent finds when the program runs.
    @ParameterizedTest
    @ValueSource(strings = {"-pie", "-no-pie -fno-pic"})
    void shouldCountTheFunctionsThatHaveProbesAsTheyAre(String flags) throws Exception {
        Path source = Files.writeString(directory.resolve("bare.c"), """
                #define ALONE __attribute__((noinline, noclone))
                ALONE int one(int x) { __asm__ volatile("lea 1000(%rdi), %eax"); return x; }
                ALONE int two(int *x) { x[1] = 77; return x[0]; }
                ALONE void *caller(void) { return __builtin_return_address(0); }
                __attribute__((naked)) void around(void) { __asm__("1: nop; dec %edi; jnz 1b; ret"); }
                __attribute__((naked)) void longAround(void) { __asm__("1: nop; dec %edi; jnz 1b; .fill 40, 1, 0x90; ret"); }
                __attribute__((naked)) void longer(void) { __asm__("lea 1(%rdi), %eax; .fill 40, 1, 0x90; ret"); }
                __attribute__((naked)) void headAtFour(void) { __asm__("lea 1(%rdi), %eax; nop; mov %eax, %edi; ret"); }
                int main(int n, char **words) { int x[2] = {n, 0}; return one(n) + two(x) + x[1] + !caller() & 0; }
                """);
        List<String> compile = new ArrayList<>(List.of("gcc", "-O2", "-o", "bare"));
        compile.addAll(List.of(flags.split(" ")));
        compile.add(source.toString());
        assertThat(Dist.run(directory, Map.of(), compile).err()).isEmpty();
        Path session = directory.resolve("session");

        String said = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", "./bare"))
                .text();
        Dist.Outcome run = Dist.run(
                directory, Map.of(), List.of(Dist.mdl(), "run", "--wait", "-o", session.toString(), "--", "./bare"));

        assertThat(run.status()).as(run.err()).isZero();
        Matcher armed = Pattern.compile(": (\\d+) functions, \\d+ sites armed")
                .matcher(Files.readString(session.resolve("agent.log")));
        assertThat(armed.find()).isTrue();
        assertThat(said)
                .containsPattern("(?m)^(ok|note) +probes +in " + armed.group(1) + " of \\d+ functions, as they are: ")
                .contains("(1 function): no durations, no callers")
                .contains("note  calls only     in 1 function: it looks at its return address")
                .contains("note  no probe       in 2 functions: it loops to its first instruction")
                .contains("note  longer ones    of 2 functions of 32 bytes and more, 50.00 % can be probed");
    }

    /// It defines the hooks of `-finstrument-functions`.
    @Test
    void shouldNotTakeTheCLibraryForOneThatWasCompiledWithProbes() throws Exception {
        Path libc = Path.of("/lib/x86_64-linux-gnu/libc.so.6");
        assumeTrue(Files.exists(libc), "Debian's libc is not here");

        String said = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", libc.toString()))
                .text();

        assertThat(said).contains("probes").doesNotContain("compiled with");
    }

    /// No kernel starts it, so there is nothing that the agent could not be loaded into.
    @Test
    void shouldTakeALibraryForOne() throws Exception {
        Path source = Files.writeString(directory.resolve("library.c"), "int f(int x) { return x + 1; }");
        String library = directory.resolve("library.so").toString();
        List<String> compile = List.of("gcc", "-shared", "-fPIC", "-o", library, "-Wl,-soname,a", source.toString());
        assertThat(Dist.run(directory, Map.of(), compile).err()).isEmpty();

        Dist.Outcome doctor = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", library));

        assertThat(doctor.text())
                .contains("note  linking        a library: its functions have probes in programs that load it")
                .doesNotContain("static");
    }

    private String doctorOf(String flag) throws Exception {
        Path program = Dist.compile(directory, "nothing", "-finstrument-functions", flag);
        return Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", program.toString()))
                .text();
    }

    /// Run by a command that confines it.
    private Dist.Outcome doctor(String... confining) throws Exception {
        List<String> command = new ArrayList<>(List.of(confining));
        command.addAll(List.of(Dist.mdl(), "doctor"));
        return Dist.run(directory, Map.of(), command);
    }
}
