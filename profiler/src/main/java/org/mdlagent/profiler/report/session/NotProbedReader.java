package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.mdlagent.profiler.report.codec.ForeignText;
import org.mdlagent.profiler.report.profile.NotProbed;

/// Reads from the agent's log why functions have no probes: the lines that `BareEntryProvider` writes, one an image.
final class NotProbedReader {
    private static final String LOG = "agent.log";
    private static final long BYTES_MAX = 1 << 20;

    private static final Pattern LINE =
            Pattern.compile("\\S+ agent: (?<image>.*): of \\d+ functions are left alone: (?<reasons>.*)");

    private static final Pattern COUNT = Pattern.compile("(?<count>\\d{1,9}) for: ");

    private NotProbedReader() {}

    /// @param directory of the session
    static List<NotProbed> read(Path directory) throws IOException {
        Path log = directory.resolve(LOG);
        if (!Files.isRegularFile(log, LinkOption.NOFOLLOW_LINKS) || Files.size(log) > BYTES_MAX) {
            return List.of();
        }
        return parse(Files.readString(log, StandardCharsets.ISO_8859_1));
    }

    static List<NotProbed> parse(String log) {
        List<NotProbed> found = new ArrayList<>();
        for (String line : log.split("\n")) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()) {
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
