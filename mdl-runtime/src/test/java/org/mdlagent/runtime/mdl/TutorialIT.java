package org.mdlagent.runtime.mdl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// docs/mdl-tutorial.md word by word: its MDL goes into `redis.mdl`, its commands are executed, and they print what the
/// page says, but for times of day, durations, overheads and bars.
class TutorialIT {
    private static final String PORT = "7777";
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\n(.*?)^```$");

    @TempDir
    Path directory;

    private String port;
    private Process server;

    /// @param expected what it prints
    private record Command(String text, List<String> expected) {}

    @Test
    void shouldPrintWhatThePageSays() throws Exception {
        for (String program : new String[] {"redis-server", "redis-cli", "redis-benchmark"}) {
            assumeTrue(
                    Files.isExecutable(Path.of("/usr/bin", program)),
                    "the tutorial was not tried: there is no " + program + " (apt-get install redis)");
        }
        try (ServerSocket free = new ServerSocket(0)) {
            port = Integer.toString(free.getLocalPort());
        }
        String page = Files.readString(Path.of("../docs/mdl-tutorial.md"));
        int tried = 0;
        for (Matcher block = BLOCK.matcher(page); block.find(); ) {
            if (block.group(1).equals("mdl")) {
                Files.writeString(
                        directory.resolve("redis.mdl"),
                        block.group(2) + "\n",
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
            } else {
                for (Command command : commands(block.group(2))) {
                    execute(command);
                    tried++;
                }
            }
        }
        assertThat(tried).isGreaterThan(25);
    }

    @AfterEach
    void end() throws Exception {
        if (server != null) {
            server.descendants().forEach(ProcessHandle::destroy);
            server.destroy();
            server.waitFor();
        }
    }

    private static List<Command> commands(String block) {
        List<Command> commands = new ArrayList<>();
        Queue<String> lines = new ArrayDeque<>(block.lines().toList());
        while (!lines.isEmpty()) {
            String command = lines.remove();
            assertThat(command).startsWith("$ ");
            List<String> expected = new ArrayList<>();
            while (!lines.isEmpty() && !lines.peek().startsWith("$ ")) {
                expected.add(lines.remove());
            }
            commands.add(new Command(command.substring(2), expected));
        }
        return commands;
    }

    private void execute(Command command) throws Exception {
        if (server == null) {
            server = start("exec " + command.text, directory.resolve("server").toFile());
            Dist.await(
                    "the server",
                    () -> printed("redis-cli -p " + PORT + " ping").contains("PONG"));
        } else {
            assertThat(printed(command.text).stream()
                            .map(TutorialIT::comparable)
                            .toList())
                    .as(command.text)
                    .isEqualTo(command.expected.stream()
                            .map(TutorialIT::comparable)
                            .toList());
        }
    }

    private List<String> printed(String command) throws Exception {
        Path out = directory.resolve("out");
        int unused = start(command, out.toFile()).waitFor();
        return Files.readAllLines(out, StandardCharsets.UTF_8);
    }

    private Process start(String command, File out) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", command.replace(PORT, port))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(out);
        builder.environment()
                .put(
                        "PATH",
                        Path.of(Dist.mdl()).getParent() + ":"
                                + builder.environment().get("PATH"));
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        return builder.start();
    }

    private static String comparable(String line) {
        return line.replaceAll("\\d\\d:\\d\\d:\\d\\d", "TIME")
                .replaceAll("overhead [\\d.]+ %", "overhead N %")
                .replaceAll("\\d+\\.\\d+", "N")
                .replaceAll("[\u2581-\u2588]+", "")
                .replaceAll(" +", " ")
                .strip();
    }
}
