package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.mdlagent.arch.file.OpenFile;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.text.ForeignText;

/// Reads from the agent's log why functions have no probes: the lines that `BareEntryProvider` writes,
/// one an image.
final class NotProbedReader {
    private static final String LOG = "agent.log";
    private static final long BYTES_MAX = 1 << 20;

    private static final Pattern LINE =
            Pattern.compile("\\S+ agent: (?<image>.*): of \\d+ functions are (?<what>left alone|without block counts): "
                    + "(?<reasons>.*)");

    private static final Pattern COUNT = Pattern.compile("(?<count>\\d{1,9}) for: ");

    private NotProbedReader() {}

    /// @param directory of the session
    /// @param blocks whether functions are meant whose blocks are not counted
    static List<NotProbed> read(Path directory, boolean blocks) throws IOException {
        try (OpenFile log = OpenFile.readable(OpenFile.bytes(directory.resolve(LOG)))) {
            boolean readable = log.isRegular() && Files.size(log.path()) <= BYTES_MAX;
            return readable ? parse(Files.readString(log.path(), StandardCharsets.ISO_8859_1), blocks) : List.of();
        } catch (FileSystemException e) {
            return List.of(); // there is none, or it is a link
        }
    }

    static List<NotProbed> parse(String log, boolean blocks) {
        List<NotProbed> found = new ArrayList<>();
        for (String line : log.split("\n")) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches() && (blocks || matcher.group("what").startsWith("left"))) {
                String reasons = matcher.group("reasons");
                int functions = COUNT.matcher(reasons)
                        .results()
                        .mapToInt(count -> Integer.parseInt(count.group("count")))
                        .sum();
                found.add(new NotProbed(matcher.group("image"), functions, ForeignText.printable(reasons)));
            }
        }
        return found;
    }
}
