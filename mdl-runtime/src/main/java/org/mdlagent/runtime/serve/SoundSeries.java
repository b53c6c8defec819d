package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.profiler.report.exposition.SessionSeries;

/// Renders the figures of several programs as one text, without those that cannot be rendered.
final class SoundSeries {
    private SoundSeries() {}

    /// Renders figures as text.
    interface Rendering<T> {
        T of(List<SessionSeries> series) throws IOException;
    }

    static <T> T render(List<SessionSeries> series, Rendering<T> rendering, LeftOut leftOut) throws IOException {
        try {
            return rendering.of(series);
        } catch (RuntimeException e) {
            List<SessionSeries> sound = new ArrayList<>();
            for (SessionSeries each : series) {
                try {
                    rendering.of(List.of(each));
                    sound.add(each);
                } catch (RuntimeException damage) {
                    leftOut.add(each.session().id(), damage);
                }
            }
            return rendering.of(sound);
        }
    }
}
