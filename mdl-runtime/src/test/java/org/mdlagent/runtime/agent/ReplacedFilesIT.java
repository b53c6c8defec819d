package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// An update replaces a program or library that runs. Names are those of what runs, or there are none.
class ReplacedFilesIT {
    private static final Map<String, Long> CALLS = Map.of("main", 1L, "alpha", 10L, "beta", 20L);

    private static final String[] PROBES = {"-O1", "-fpatchable-function-entry=5", "-fno-reorder-functions"};

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"replaced,sha1", "replaced,none", "moved aside,sha1", "moved aside,none", "deleted,none"})
    void shouldNameTheFunctionsOfTheProgramThatRuns(String how, String build) throws Exception {
        Path program = build("program", "order.c", build, "-L" + directory, "-lreplaces", rpath());
        Path other = build("other", "order.c", build, "-DSWAPPED", "-L" + directory, "-lreplaces", rpath());

        JsonNode report = run(program, how, program, other);

        assertThat(Dist.calls(report)).isEqualTo(CALLS);
    }

    @ParameterizedTest
    @CsvSource({
        "replaced,sha1",
        "replaced,none",
        "moved aside,none",
        "deleted,sha1",
        "overwritten,sha1",
        "overwritten,none"
    })
    void shouldNameTheFunctionsOfTheLibraryThatIsLoadedOrNone(String how, String build) throws Exception {
        Path library = build("liborder.so", "order.c", build, "-DLIBRARY", "-shared", "-fPIC");
        Path other = build("libother.so", "order.c", build, "-DLIBRARY", "-DSWAPPED", "-shared", "-fPIC");
        Path program =
                build("program", "order.c", build, "-DCALLER", "-L" + directory, "-lreplaces", "-lorder", rpath());

        JsonNode report = run(program, how, library, other);

        // The kernel opens a mapped file that has no name any more for the privileged alone.
        Map<String, Long> calls = new HashMap<>(Dist.calls(report));
        if (calls.equals(Map.of("main", 1L))) {
            assertThat(Files.readString(directory.resolve("session/agent.log")))
                    .contains("liborder.so: left alone: its file has been replaced or deleted since it was loaded");
            assertThat(report.at("/losses/0/reason").asText()).isEqualTo("images");
        } else {
            assertThat(calls).isEqualTo(CALLS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"replaced", "moved aside", "deleted"})
    void shouldReadTheVariablesOfTheProgramThatRuns(String how) throws Exception {
        Path program = build("program", "order.c", "sha1", "-L" + directory, "-lreplaces", rpath());
        Path other = build("other", "order.c", "sha1", "-DSWAPPED", "-L" + directory, "-lreplaces", rpath());
        Path metric = Files.writeString(directory.resolve("later.mdl"), """
                list betas is procedure { items { "beta" }; }
                metric seen {
                    name "Seen"; units numbers; unitsType sampled; aggregateOperator sum;
                    base is counter {
                        foreach func in betas {
                            append preInsn func.entry (* seen = readSymbol("later"); *)
                        }
                    }
                }
                """);

        JsonNode report = run(program, how, program, other, ",mdl=" + metric + ",metric=seen");

        assertThat(report.at("/metrics/0/value").asLong()).isEqualTo(22);
    }

    @Test
    void shouldNameTheFunctionsThatHaveRunWhenTheirFileIsAnotherByThen() throws Exception {
        Path program = build("program", "order.c", "sha1", "-L" + directory, "-lreplaces", rpath());
        Path other = build("other", "order.c", "sha1", "-DSWAPPED", "-L" + directory, "-lreplaces", rpath());
        Path session = directory.resolve("session");

        Dist.Outcome run =
                Dist.run(directory, Dist.preload("wait,exact,session=" + session), List.of(program.toString()));
        Files.move(other, program, StandardCopyOption.REPLACE_EXISTING);

        assertThat(run.status()).isZero();
        assertThat(Dist.calls(Dist.report(directory, session))).isEqualTo(CALLS);
    }

    private JsonNode run(Path program, String how, Path old, Path other) throws Exception {
        return run(program, how, old, other, "");
    }

    /// @param options further ones
    private JsonNode run(Path program, String how, Path old, Path other, String options) throws Exception {
        Path session = directory.resolve("session");
        Map<String, String> environment = new HashMap<>(Dist.preload("wait,exact,session=" + session + options));
        environment.putAll(Map.of("HOW", how, "OLD", old.toString(), "NEW", other.toString()));

        Dist.Outcome run = Dist.run(directory, environment, List.of(program.toString()));

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        return Dist.report(directory, session);
    }

    private String rpath() throws Exception {
        if (!Files.exists(directory.resolve("libreplaces.so"))) {
            gcc("libreplaces.so", "replaces.c", List.of("-shared", "-fPIC"));
        }
        return "-Wl,--no-as-needed,-rpath," + directory;
    }

    private Path build(String name, String source, String build, String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of(PROBES));
        all.add("-Wl,--no-as-needed,--build-id=" + build);
        all.addAll(List.of(flags));
        return gcc(name, source, all);
    }

    private Path gcc(String name, String source, List<String> flags) throws Exception {
        Path program = directory.resolve(name);
        List<String> command = new ArrayList<>(List.of("gcc", "-o", program.toString(), source(source)));
        command.addAll(flags);
        Dist.Outcome built = Dist.run(directory, Map.of(), command);
        assertThat(built.status()).as(built.err()).isZero();
        return program;
    }

    private static String source(String name) {
        return Path.of("src/test/c", name).toAbsolutePath().toString();
    }
}
