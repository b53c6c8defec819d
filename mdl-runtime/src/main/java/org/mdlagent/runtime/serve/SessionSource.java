package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// Where the sessions are that are served.
public interface SessionSource {
    /// Directories that hold sessions, the newest first.
    List<Path> directories() throws IOException;

    /// Whether the program of a session still runs.
    boolean runs(SessionFacts session);

    /// How it ended, in words.
    String ending(SessionFacts session);
}
