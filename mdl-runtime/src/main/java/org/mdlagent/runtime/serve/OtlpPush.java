package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.mdlagent.profiler.report.OtlpReport;
import org.mdlagent.profiler.report.SessionSeries;

/// Sends the figures of the programs that run to an OpenTelemetry collector, by OTLP over HTTP in JSON, on a thread of
/// its own.
///
/// Sums and histograms are cumulative, so what could not be sent is not kept: the next request holds it, too. After a
/// failure the next comes sooner, then ever later, up to [#LONGEST_PAUSE].
public final class OtlpPush implements AutoCloseable {
    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final int TIMEOUT_MILLIS = 10_000;

    private final URI collector;
    private final Duration interval;
    private final WatchedSessions sessions;
    private final String host;
    private final Consumer<String> messages;
    private final Thread thread;

    /// @param collector of which the path `/v1/metrics` takes metrics
    /// @param host      name of the machine
    /// @param messages  where it is said that requests begin to fail, and that they succeed again
    public OtlpPush(
            URI collector, Duration interval, WatchedSessions sessions, String host, Consumer<String> messages) {
        String base = collector.toString().replaceFirst("/+$", "");
        this.collector = URI.create(base.endsWith("/v1/metrics") ? base : base + "/v1/metrics");
        this.interval = interval;
        this.sessions = sessions;
        this.host = host;
        this.messages = messages;
        thread = Thread.ofVirtual().name("otlp").unstarted(this::run);
    }

    public void start() {
        thread.start();
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void run() {
        int failures = 0;
        try {
            while (true) {
                try {
                    push();
                    if (failures > 0) {
                        messages.accept("the collector " + collector + " takes metrics again");
                    }
                    failures = 0;
                } catch (IOException e) {
                    if (failures++ == 0) {
                        messages.accept("the collector " + collector + " takes no metrics: " + e.getMessage());
                    }
                }
                Thread.sleep(pause(failures, interval));
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    /// Until the next request, after so many failures in a row.
    static Duration pause(int failures, Duration interval) {
        if (failures == 0) {
            return interval;
        }
        Duration doubled = FIRST_PAUSE.multipliedBy(1L << Math.min(failures - 1, 20));
        return doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
    }

    /// Sends one request; without programs there is nothing to tell.
    private void push() throws IOException {
        List<SessionSeries> series = sessions.series();
        if (series.isEmpty()) {
            return;
        }
        StringBuilder request = new StringBuilder();
        OtlpReport.write(series, Instant.now(), host, request);
        HttpURLConnection connection = (HttpURLConnection) collector.toURL().openConnection();
        try {
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            connection.setInstanceFollowRedirects(false);
            connection.setRequestMethod("POST");
            connection.setDoOutput(true);
            connection.setRequestProperty("Content-Type", "application/json");
            try (OutputStream out = connection.getOutputStream()) {
                out.write(request.toString().getBytes(StandardCharsets.UTF_8));
            }
            int status = connection.getResponseCode();
            if (status / 100 != 2) {
                throw new IOException("it answers with status " + status);
            }
        } finally {
            connection.disconnect();
        }
    }
}
