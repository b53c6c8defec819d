package org.mdlagent.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The production examples must use existing series, and Prometheus' own tool must accept their rules.
class ExamplesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path EXAMPLES = ROOT.resolve("examples/production");
    private static final Pattern SERIES = Pattern.compile("\\bmdl_[a-z_]+");

    private static Set<String> series(Path file) throws IOException {
        Set<String> names = new TreeSet<>();
        SERIES.matcher(Files.readString(file))
                .results()
                .forEach(found -> names.add(found.group().replaceFirst("_(bucket|sum|count)$", "")));
        return names;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rules.yml", "rules-test.yml", "grafana.json"})
    void shouldAskForSeriesThatThereAre(String example) throws IOException {
        Set<String> served = series(
                ROOT.resolve("profiler/src/main/java/org/mdlagent/profiler/report/exposition/PrometheusReport.java"));
        assertThat(served).contains("mdl_function_duration_seconds").hasSizeGreaterThan(10);

        assertThat(series(EXAMPLES.resolve(example))).isNotEmpty().isSubsetOf(served);
    }

    @ParameterizedTest
    @CsvSource({"check rules, rules.yml", "test rules, rules-test.yml"})
    void shouldHaveRulesThatPrometheusTakes(String what, String file) throws Exception {
        ProcessBuilder promtool = new ProcessBuilder(("promtool " + what + " " + file).split(" "))
                .directory(EXAMPLES.toFile())
                .redirectErrorStream(true);
        Process process;
        try {
            process = promtool.start();
        } catch (IOException e) {
            assumeTrue(false, "no promtool; it is in Debian's package prometheus");
            return;
        }
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said).contains("SUCCESS");
    }
}
