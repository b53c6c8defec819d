package org.mdlagent.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The page on troubleshooting must explain each refusal and each notice of a command that states no remedy itself.
class TroubleshootingTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /// Functions whose first argument is a message.
    private static final Pattern CALL = Pattern.compile(
            "(?:CommandFailure\\.(?:failed|usage)|console(?:\\(\\))?\\.say|[ (]say|notes\\.add|warnings\\.add)\\(");

    /// The second argument of these functions, if it is a literal, is the remedy, which is printed below the message.
    private static final Pattern WITH_REMEDY = Pattern.compile("CommandFailure\\.|console");

    private static final Pattern REMEDY = Pattern.compile("\\G,\\s*\"");

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    /// Messages with a list of allowed values: the page has only these forms.
    private static final List<String> FORMS = List.of(
            "is not possible",
            "there is no format",
            "there is no stage",
            "there is no command",
            "mdl does not list",
            "functions cannot be sorted by");

    /// The beginnings of literals, up to the end of the first clause, of two words or more, where no remedy follows.
    private static Set<String> messages(String source) {
        Set<String> messages = new TreeSet<>();
        Matcher call = CALL.matcher(source);
        while (call.find()) {
            String message = firstArgument(source, call.end());
            if (WITH_REMEDY.matcher(call.group()).find()
                    && REMEDY.matcher(source).find(call.end() + message.length())) {
                continue;
            }
            Matcher literal = LITERAL.matcher(message);
            while (literal.find()) {
                String clause =
                        literal.group(1).strip().replaceAll("^[:;,] *", "").replaceFirst(" ?[:;,(=].*", "");
                if (clause.indexOf(' ') > 0) {
                    messages.add(clause);
                }
            }
        }
        return messages;
    }

    private static String firstArgument(String source, int from) {
        int depth = 0;
        boolean quoted = false;
        for (int i = from; i < source.length(); i++) {
            char c = source.charAt(i);
            if (c == '"' && source.charAt(i - 1) != '\\') {
                quoted = !quoted;
            } else if (!quoted && (c == '(' || c == '{')) {
                depth++;
            } else if (!quoted && depth == 0 && (c == ',' || c == ')')) {
                return source.substring(from, i);
            } else if (!quoted && (c == ')' || c == '}')) {
                depth--;
            }
        }
        return source.substring(from);
    }

    @Test
    void shouldFindTheClausesOfMessagesWithoutARemedy() {
        assertThat(messages("""
                throw CommandFailure.usage(
                    "html is for a browser", reason());
                throw CommandFailure.usage("pprof is not text", "try: another");
                if (full) say("takes no more", ": never");
                throw CommandFailure.failed(f(x, "file") + " has errors; see below" + (one ? " again and again" : ""), null);
                console.say(name + ": left alone", null);
                """))
                .containsExactly(
                        "again and again", "has errors", "html is for a browser", "left alone", "takes no more");
    }

    @Test
    void shouldExplainEveryMessageOfTheCommands() throws IOException {
        Set<String> messages = new TreeSet<>();
        for (String module : List.of("mdl-runtime", "profiler")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module + "/src/main/java"))) {
                // Messages of mdl doctor already explain themselves.
                for (Path file : files.filter(file -> file.toString().endsWith(".java"))
                        .filter(file -> !file.endsWith("DoctorCommand.java"))
                        .toList()) {
                    messages.addAll(messages(Files.readString(file)));
                }
            }
        }
        assertThat(messages)
                .contains("there is no session", "is linked with musl", "takes no profiles", "takes no metrics")
                .contains("an option holds a line break", "no function with probes matches")
                .hasSizeGreaterThan(40);
        String page = Files.readString(ROOT.resolve("docs/troubleshooting.md"));

        messages.removeIf(message -> page.contains(message) || FORMS.contains(message));
        assertThat(messages).as("what is not explained").isEmpty();
    }
}
