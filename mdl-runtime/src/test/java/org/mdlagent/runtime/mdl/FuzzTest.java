package org.mdlagent.runtime.mdl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// Damaged files: each is read, or each error has a place in it, in bounded time.
///
/// `-Dmdl.fuzz.cases=N` sets the number of cases, `-Dmdl.fuzz.seed=S` where they start.
class FuzzTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 5_000);
    private static final long SEED = Long.getLong("mdl.fuzz.seed", 1);

    /// Of many, how far it is.
    private static final int CASES_A_LINE = 100_000;

    private static final long NANOS_MAX = 5_000_000_000L;

    private static final String[] PIECES =
            ("metric|constraint|list|resourceList|exclude|daemon|foreach|if|append|prepend|preInsn|constrained|base|is"
                            + "|counter|vector|direct|hashed|wallTimer|replace|default|items|flavor|$constraint[0]|$arg[1]|$return|$start|.entry|.calls"
                            + "|in|(*|*)|{|}|(|)|[|]|;|;|,|.|=|+=|++|-|*|/|&&|&|!|\"|\"|//|\n|0|1.5|99999999999999999999|$|\t|\r"
                            + "|\u0000|\ud800|\u00e4|((((((((|{{{{{{{{|--------")
                    .split("\\|");

    @Test
    void shouldReadOrReportDamagedFiles() throws IOException {
        readAllCases(Runnable::run);
    }

    @Tag("timing")
    @Test
    void shouldTakeLittleTimeForEach() throws IOException {
        LongAccumulator longest = new LongAccumulator(Math::max, 0);
        readAllCases(one -> {
            long before = System.nanoTime();
            one.run();
            longest.accumulate(System.nanoTime() - before);
        });
        System.out.printf("the longest took %,d ms%n", longest.get() / 1_000_000);
        assertThat(longest.get()).isLessThan(NANOS_MAX);
    }

    private static void readAllCases(Consumer<Runnable> runner) throws IOException {
        List<String> right = texts("ast");
        MetricLibrary.files().forEach(file -> right.add(file.text()));
        List<String> wrong = texts("errors");
        AtomicInteger loaded = new AtomicInteger();
        AtomicInteger read = new AtomicInteger();
        IntStream.range(0, CASES).parallel().forEach(i -> {
            long seed = SEED + i;
            String text = damage(i % 2 == 0 ? right : wrong, new SplittableRandom(seed));
            runner.accept(() -> loaded.addAndGet(readCase(seed, text) ? 1 : 0));
            if (read.incrementAndGet() % CASES_A_LINE == 0) {
                System.out.printf("%,d cases of %,d are read%n", read.get(), CASES);
            }
        });
        // Both must happen.
        assertThat(loaded.get()).isBetween(CASES / 100, CASES * 9 / 10);
    }

    private static boolean readCase(long seed, String text) {
        try {
            Compilation compilation = Compilation.of(new SourceFile("damaged", text), Definitions.NONE);
            compilation.diagnostics().forEach(diagnostic -> check(diagnostic, text));
            return compilation.isCorrect();
        } catch (RuntimeException | Error e) {
            throw new AssertionError("case with seed " + seed + ":\n" + text, e);
        }
    }

    private static List<String> texts(String directory) throws IOException {
        List<String> texts = new ArrayList<>();
        for (Path file : Resources.in(directory)) {
            texts.add(Resources.read(file).text());
        }
        return texts;
    }

    private static void check(Diagnostic diagnostic, String text) {
        int at = diagnostic.at();
        if (at < 0 || at > text.length() || !diagnostic.format().startsWith("damaged:")) {
            throw new AssertionError(diagnostic);
        }
    }

    private static String damage(List<String> victims, SplittableRandom random) {
        String text = victims.get(random.nextInt(victims.size()));
        for (int left = random.nextInt(1, 4); left > 0; left--) {
            int from = random.nextInt(text.length() + 1);
            int to = Math.min(text.length(), from + random.nextInt(12));
            String part = switch (random.nextInt(4)) {
                case 0 -> "";
                case 1 -> PIECES[random.nextInt(PIECES.length)];
                case 2 -> PIECES[random.nextInt(PIECES.length)].repeat(random.nextInt(1, 300));
                default -> piece(victims.get(random.nextInt(victims.size())), random);
            };
            text = text.substring(0, from) + part + text.substring(random.nextBoolean() ? from : to);
        }
        return text;
    }

    private static String piece(String text, SplittableRandom random) {
        int from = random.nextInt(text.length() + 1);
        return text.substring(from, Math.min(text.length(), from + random.nextInt(80)));
    }
}
