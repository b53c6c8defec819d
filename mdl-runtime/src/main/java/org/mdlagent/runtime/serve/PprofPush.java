package org.mdlagent.runtime.serve;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.mdlagent.profiler.report.format.PprofReport;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.text.JsonWriter;

/// Pushes new profiles of running programs to a profile server, as pprof, on a dedicated thread: to Pyroscope
/// (`/ingest`), or to Parca (an address that ends with `/profiles/writeraw`).
///
/// A profile covers completed time slices, so nothing is sent twice. Unsent slices go with the next profile, as
/// far back as the session keeps slices; after a failure the other programs also wait for the next round.
public final class PprofPush implements AutoCloseable {
    private static final String PARCA = "/profiles/writeraw";
    private static final String BOUNDARY = "mdl-part-of-a-request";
    private static final String FINE = "takes profiles again";

    /// Sample type metadata for Pyroscope.
    private static final String SAMPLE_TYPES = """
            {"calls": {"units": "samples"}, "total": {"units": "nanoseconds"}, "self": {"units": "nanoseconds"}}""";

    private final URI server;
    private final boolean parca;
    private final Duration interval;
    private final SessionSource source;
    private final String host;
    private final Consumer<String> messages;
    private final LeftOut leftOut;
    private final Thread thread;

    /// The last slice of each session that was sent, or existed at the first look.
    private final Map<Path, Long> sent = new HashMap<>();

    private String said = FINE;

    /// @param host     name of the machine
    /// @param messages receives changes of state: requests start to fail, fail for another reason, or succeed
    ///     again
    public PprofPush(URI server, Duration interval, SessionSource source, String host, Consumer<String> messages) {
        String base = server.toString().replaceFirst("/+$", "");
        parca = base.endsWith(PARCA);
        this.server = URI.create(parca || base.endsWith("/ingest") ? base : base + "/ingest");
        this.interval = interval;
        this.source = source;
        this.host = host;
        this.messages = messages;
        leftOut = new LeftOut(messages);
        thread = Thread.ofVirtual().name("pprof").unstarted(this::run);
    }

    public void start() {
        thread.start();
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void run() {
        try {
            while (true) {
                look();
                Thread.sleep(interval);
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    /// Sends new slices of each session with a running program.
    void look() {
        try {
            List<Path> sessions = source.directories();
            sent.keySet().retainAll(sessions);
            for (Path session : sessions) {
                try {
                    push(session);
                } catch (RuntimeException e) {
                    leftOut.add(session.getFileName().toString(), e);
                }
            }
            say(FINE, "");
        } catch (IOException e) {
            say("takes no profiles: ", String.valueOf(e.getMessage()));
        }
    }

    private void say(String state, String reason) {
        if (!(state + reason).equals(said)) {
            messages.accept("the server " + server + " " + state + reason);
            said = state + reason;
        }
    }

    private void push(Path session) throws IOException {
        Profile profile;
        List<TimeSlice> slices;
        try (SessionReader reader = SessionReader.open(session)) {
            if (!source.runs(reader.facts())) {
                return;
            }
            List<TimeSlice> kept = reader.slices();
            long newest = kept.isEmpty() ? -1 : kept.getLast().number();
            Long last = sent.putIfAbsent(session, newest);
            if (last == null || last >= newest) {
                return;
            }
            slices = kept.stream().filter(slice -> slice.number() > last).toList();
            profile = reader.profile(slices);
        } catch (IOException e) {
            // An unreadable session does not stop the others; the list of sessions shows the reason.
            return;
        }
        ByteArrayOutputStream pprof = new ByteArrayOutputStream();
        PprofReport.write(profile, ProfileOrder.byDefault(profile), Integer.MAX_VALUE, pprof);
        send(profile.session(), slices, pprof.toByteArray());
        sent.put(session, slices.getLast().number());
    }

    private void send(SessionFacts session, List<TimeSlice> slices, byte[] pprof) throws IOException {
        if (parca) {
            post(server, "application/json", parca(session, pprof));
            return;
        }
        String name = "%s{host=%s,pid=%d,session=%s}"
                .formatted(label(session.name()), label(host), session.pid(), label(session.id()));
        long from = slices.getFirst().start().getEpochSecond();
        long until = Math.max(from + 1, slices.getLast().end().getEpochSecond());
        String query = "?name=" + URLEncoder.encode(name, StandardCharsets.UTF_8) + "&from=" + from + "&until=" + until
                + "&format=pprof&spyName=mdl";
        post(URI.create(server + query), "multipart/form-data; boundary=" + BOUNDARY, parts(pprof));
    }

    /// Replace characters that could end a label.
    private static String label(String text) {
        return text.replaceAll("[^A-Za-z0-9_.-]", "_");
    }

    private static byte[] parts(byte[] pprof) throws IOException {
        ByteArrayOutputStream form = new ByteArrayOutputStream();
        part("profile", pprof, form);
        part("sample_type_config", SAMPLE_TYPES.getBytes(StandardCharsets.UTF_8), form);
        form.write(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
        return form.toByteArray();
    }

    private static void part(String name, byte[] content, OutputStream form) throws IOException {
        String head = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + name
                + "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
        form.write(head.getBytes(StandardCharsets.US_ASCII));
        form.write(content);
        form.write("\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    private byte[] parca(SessionFacts session, byte[] pprof) throws IOException {
        StringBuilder text = new StringBuilder();
        JsonWriter json = new JsonWriter(text, false).beginObject();
        json.beginArray("series").element().beginObject();
        json.name("labels").beginObject().beginArray("labels");
        label("__name__", "mdl", json);
        label("program", session.name(), json);
        label("host", host, json);
        label("pid", Integer.toString(session.pid()), json);
        label("session", session.id(), json);
        json.endArray().endObject();
        json.beginArray("samples").element().beginObject();
        json.member("rawProfile", Base64.getEncoder().encodeToString(pprof));
        json.endObject().endArray().endObject().endArray().endObject();
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void label(String name, String value, JsonWriter json) throws IOException {
        json.element().beginObject().member("name", name).member("value", value).endObject();
    }

    private static void post(URI address, String type, byte[] content) throws IOException {
        try (PushRequest request = new PushRequest(address)) {
            request.header("Content-Type", type);
            int status = request.send(content).getResponseCode();
            if (status / 100 != 2) {
                throw new IOException("it answers with status " + status);
            }
        }
    }
}
