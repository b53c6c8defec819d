package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// The source of the served sessions.
public interface SessionSource {
    /// Session directories, newest first.
    List<Path> directories() throws IOException;

    /// Whether a session's program still runs.
    boolean runs(SessionFacts session);

    /// How it ended, in words.
    String ending(SessionFacts session);
}
