package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.mdlagent.profiler.report.exposition.SessionSeries;

/// Renders the figures of several programs in one text. A session is written by its program, so anything may stand in
/// it: a program whose figures cannot be rendered is left out, and costs the others nothing.
final class SoundSeries {
    private SoundSeries() {}

    /// How figures become a text.
    interface Rendering<T> {
        T of(List<SessionSeries> series) throws IOException;
    }

    /// @param refused told the id of each session that is left out, and why
    static <T> T render(List<SessionSeries> series, Rendering<T> rendering, Consumer<String> refused)
            throws IOException {
        try {
            return rendering.of(series);
        } catch (RuntimeException e) {
            List<SessionSeries> sound = new ArrayList<>();
            for (SessionSeries each : series) {
                try {
                    rendering.of(List.of(each));
                    sound.add(each);
                } catch (RuntimeException damage) {
                    refused.accept("the session " + each.session().id() + " is left out: " + damage.getMessage());
                }
            }
            return rendering.of(sound);
        }
    }
}
