package org.mdlagent.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Runs of scripts that start programs with agents: each in the same empty directory, with nothing in its
/// environment but what is said here, so that two runs can be compared. What one leaves stays until the next.
public final class ScriptRuns {
    /// All probes are switched on and off all the time.
    public static final String TOGGLING = "sliced=*,budgetPercent=100";

    private final Path directory;

    /// @param directory of the test
    public ScriptRuns(Path directory) {
        this.directory = directory;
    }

    /// @param patience    after which it is ended
    /// @param environment besides what each run has
    /// @param command     that runs the script
    public Dist.Outcome run(Duration patience, Map<String, String> environment, List<String> command) throws Exception {
        forget();
        Path work = Files.createDirectory(directory.resolve("work"));
        Map<String, String> all = new TreeMap<>(environment);
        all.put("PATH", "/usr/bin:/bin:/usr/sbin");
        all.put("HOME", work.toString());
        all.put("LC_ALL", "C");
        all.put("TZ", "UTC");
        all.put("XDG_STATE_HOME", directory.resolve("state").toString());
        List<String> bounded = new ArrayList<>(List.of(
                "timeout", "-k", "60", Long.toString(patience.toSeconds()), "env", "-i", "-C", work.toString()));
        all.forEach((name, value) -> bounded.add(name + "=" + value));
        bounded.addAll(command);
        return Dist.run(directory, Map.of(), bounded);
    }

    /// Of the last run's agents.
    public List<Path> sessions() throws IOException {
        Path sessions = directory.resolve("state/mdl/sessions");
        if (!Files.exists(sessions)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(sessions)) {
            return all.toList();
        }
    }

    /// Removes what the last run has left, with what its sessions hold of the machine's memory.
    public void forget() throws Exception {
        SessionCleanup.remove(directory, "work", "state");
    }
}
