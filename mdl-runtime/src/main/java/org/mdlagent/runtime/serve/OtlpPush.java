package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.exposition.OtlpReport;
import org.mdlagent.profiler.report.exposition.SessionSeries;

/// Pushes figures of running programs to an OpenTelemetry collector, by OTLP over HTTP in JSON, on a dedicated
/// thread.
///
/// Sums and histograms are cumulative, so unsent figures need not be kept: the next request includes them. After a
/// failure the first retry is early, then the pauses back off up to [#LONGEST_PAUSE].
public final class OtlpPush implements AutoCloseable {
    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    /// Maximum length of a shown answer.
    private static final int ANSWER_BYTES = 300;

    /// A collector reports partial success in a successful answer.
    private static final Pattern REJECTED = Pattern.compile("\"rejectedDataPoints\"\\s*:\\s*\"?[1-9]");

    private static final String FINE = "takes metrics again";

    private final URI collector;
    private final RequestHeaders headers;
    private final Duration interval;
    private final WatchedSessions sessions;
    private final String host;
    private final Consumer<String> messages;
    private final Thread thread;
    private final LeftOut leftOut;
    private String said = FINE;

    /// @param collector base URI; metrics go to its path `/v1/metrics`
    /// @param headers   headers that it requires
    /// @param host      name of the machine
    /// @param messages  receives changes of state: requests start to fail, fail for another reason, or succeed
    ///     again
    public OtlpPush(
            URI collector,
            RequestHeaders headers,
            Duration interval,
            WatchedSessions sessions,
            String host,
            Consumer<String> messages) {
        String base = collector.toString().replaceFirst("/+$", "");
        this.collector = URI.create(base.endsWith("/v1/metrics") ? base : base + "/v1/metrics");
        this.headers = headers;
        this.interval = interval;
        this.sessions = sessions;
        this.host = host;
        this.messages = messages;
        leftOut = new LeftOut(messages);
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
                    failures = 0;
                } catch (RuntimeException e) {
                    // A bug of ours: continue, because the next figures may be good.
                    failures++;
                    say("gets no metrics: " + e, "");
                } catch (IOException e) {
                    failures++;
                    say("takes no metrics: " + reason(e), "");
                }
                Thread.sleep(pause(failures, interval));
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    /// Reports the state if it has changed.
    private void say(String state, String details) {
        if (!state.equals(said)) {
            messages.accept("the collector " + collector + " " + state + details);
            said = state;
        }
    }

    private String request(List<SessionSeries> series) throws IOException {
        StringBuilder request = new StringBuilder();
        OtlpReport.write(series, Instant.now(), host, request);
        return request.toString();
    }

    private static String reason(IOException e) {
        return switch (e) {
            case UnknownHostException unknown -> "there is no host " + unknown.getMessage();
            case SocketTimeoutException slow -> "it has not answered in " + PushRequest.TIMEOUT_MILLIS / 1000 + " s";
            default -> String.valueOf(e.getMessage());
        };
    }

    /// Pause until the next request, by the number of consecutive failures.
    static Duration pause(int failures, Duration interval) {
        if (failures == 0) {
            return interval;
        }
        Duration doubled = FIRST_PAUSE.multipliedBy(1L << Math.min(failures - 1, 20));
        return doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
    }

    /// Sends one request, unless there are no programs.
    private void push() throws IOException {
        List<SessionSeries> series = sessions.series();
        if (series.isEmpty()) {
            return;
        }
        String content = SoundSeries.render(series, this::request, leftOut);
        try (PushRequest request = new PushRequest(collector)) {
            headers.forEach(request::header);
            request.header("Content-Type", "application/json");
            judge(request.send(content.getBytes(StandardCharsets.UTF_8)));
        }
    }

    /// Rejected data is not resent, as OTLP requires; cumulative figures do not need it.
    private void judge(HttpURLConnection connection) throws IOException {
        int status = connection.getResponseCode();
        String answer = answer(status < 400 ? connection.getInputStream() : connection.getErrorStream());
        if (status == 401 || status == 403) {
            throw new IOException("it answers with status " + status
                    + "; put credentials into OTEL_EXPORTER_OTLP_HEADERS or --otlp-header-file");
        }
        if (status / 100 != 2) {
            throw new IOException("it answers with status " + status + (answer.isBlank() ? "" : ", " + answer));
        }
        if (REJECTED.matcher(answer).find()) {
            say("takes a part of the metrics only: ", answer);
        } else {
            say(FINE, "");
        }
    }

    /// The beginning of the answer, on one line.
    private static String answer(@Nullable InputStream in) throws IOException {
        if (in == null) {
            return "";
        }
        try (in) {
            String text = new String(in.readNBytes(ANSWER_BYTES), StandardCharsets.UTF_8);
            return text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
        }
    }
}
