package org.mdlagent.runtime.cli.live;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.serve.OtlpPush;
import org.mdlagent.runtime.serve.PprofPush;
import org.mdlagent.runtime.serve.RequestHeaders;
import org.mdlagent.runtime.serve.SessionSource;
import org.mdlagent.runtime.serve.WatchedSessions;
import org.mdlagent.runtime.serve.WebServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/// `mdl serve`: running programs as web pages, and their figures for monitoring systems.
@Command(
        name = "serve",
        description = "Serve pages of running programs, and their figures for Prometheus and OpenTelemetry.",
        customSynopsis = "mdl serve [OPTIONS]",
        sortOptions = false)
public final class ServeCommand implements Callable<Integer> {
    private static final Pattern ADDRESS = Pattern.compile("\\[?([^\\[\\]]+)]?:([0-9]{1,5})");
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~-]{16,}");

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            description = "Default: 127.0.0.1:9417. Port 0 picks a free one. Addresses that other machines reach"
                    + " need a token.")
    private String listen = "127.0.0.1:9417";

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "Require the token in this file from readers (Authorization: Bearer, or ?token= once).")
    private @Nullable Path tokenFile;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "Functions per program in /metrics and OTLP, hottest first (200).")
    private int limit = 200;

    @Option(
            names = "--otlp",
            paramLabel = "URL",
            description =
                    "Also send the figures to this OpenTelemetry collector (OTLP over HTTP, to" + " URL/v1/metrics).")
    private @Nullable String otlp;

    @Option(
            names = "--otlp-header",
            paramLabel = "NAME=VALUE",
            description = "A header for the collector. Repeatable. Other users see it in the process list, so"
                    + " put secrets in a file or OTEL_EXPORTER_OTLP_HEADERS.")
    private List<String> otlpHeaders = List.of();

    @Option(
            names = "--otlp-header-file",
            paramLabel = "FILE",
            description = "Headers from a file that only you can read, one per line.")
    private @Nullable Path otlpHeaderFile;

    @Option(names = "--otlp-interval", paramLabel = "SECONDS", description = "Between two requests (15).")
    private double otlpInterval = 15;

    @Option(
            names = "--pprof-push",
            paramLabel = "URL",
            description = "Send each interval's profiles to this Pyroscope (URL/ingest) or, if URL ends with"
                    + " /profiles/writeraw, Parca.")
    private @Nullable String pprofPush;

    @Option(names = "--pprof-interval", paramLabel = "SECONDS", description = "Between two profiles (60).")
    private double pprofInterval = 60;

    @Override
    public Integer call() throws IOException, InterruptedException {
        InetSocketAddress address = address();
        CommandFailure.check(limit >= 0, "--limit=" + limit, "a limit is a number from 0");
        Duration figures = interval("--otlp-interval", otlpInterval);
        Duration profiles = interval("--pprof-interval", pprofInterval);
        URI collector = collector();
        URI profileServer = pprofPush == null ? null : address("--pprof-push", pprofPush, "try: http://localhost:4040");
        RequestHeaders headers = collector == null ? new RequestHeaders() : headers(System.getenv());
        String token = tokenFile == null ? null : token(tokenFile);
        if (token == null && !address.getAddress().isLoopbackAddress()) {
            throw CommandFailure.usage(
                    "--listen=" + listen + ": other machines could read the profiles",
                    "try: (umask 077; openssl rand -hex 32 > mdl.token); mdl serve --listen " + listen
                            + " --token-file mdl.token");
        }
        SessionSource source = new StoredSessions(mdl.store());
        WatchedSessions sessions = new WatchedSessions(source, limit);
        String host = hostName();
        try (WebServer server = bind(address, sessions, source, token, host)) {
            server.start();
            mdl.console().out().println(url(server.address()));
            if (collector != null) {
                new OtlpPush(
                                collector,
                                headers,
                                figures,
                                sessions,
                                host,
                                message -> mdl.console().say(message, null))
                        .start();
            }
            if (profileServer != null) {
                new PprofPush(
                                profileServer,
                                profiles,
                                source,
                                host,
                                message -> mdl.console().say(message, null))
                        .start();
            }
            new CountDownLatch(1).await();
        }
        return 0;
    }

    /// The sessions of the store.
    record StoredSessions(SessionStore store) implements SessionSource {
        @Override
        public List<Path> directories() throws IOException {
            return store.all();
        }

        @Override
        public boolean runs(SessionFacts session) {
            return ProgramState.runs(session);
        }

        @Override
        public String ending(SessionFacts session) {
            return ProgramState.describe(session);
        }
    }

    private InetSocketAddress address() {
        Matcher parts = ADDRESS.matcher(listen);
        boolean possible = parts.matches() && Integer.parseInt(parts.group(2)) < 1 << 16;
        CommandFailure.check(possible, "--listen=" + listen, "an address is HOST:PORT, for instance 127.0.0.1:9417");
        try {
            return new InetSocketAddress(InetAddress.getByName(parts.group(1)), Integer.parseInt(parts.group(2)));
        } catch (UnknownHostException e) {
            throw CommandFailure.usage(
                    "--listen=" + listen + ": there is no host " + parts.group(1), "try: --listen 127.0.0.1:9417");
        }
    }

    private @Nullable URI collector() {
        if (otlp == null) {
            if (otlpHeaderFile != null || !otlpHeaders.isEmpty()) {
                throw CommandFailure.usage("there are headers, but no collector", "add --otlp URL");
            }
            return null;
        }
        return address("--otlp", otlp, "put credentials into OTEL_EXPORTER_OTLP_HEADERS or --otlp-header-file");
    }

    /// @param withoutPassword the alternative to a password in an address, for the message
    private static URI address(String option, String text, String withoutPassword) {
        try {
            URI uri = URI.create(text);
            if (uri.getUserInfo() != null) {
                throw CommandFailure.usage(option + ": an address is no place for a password", withoutPassword);
            }
            if (uri.getHost() != null && Set.of("http", "https").contains(uri.getScheme())) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // reported below
        }
        throw CommandFailure.usage(
                option + "=" + text + " is not possible",
                "a collector is http://HOST:PORT, for instance localhost:4318");
    }

    private static Duration interval(String option, double seconds) {
        CommandFailure.check(
                seconds >= 1 && seconds <= 86_400,
                option + "=" + seconds,
                "an interval is a number of seconds from 1 to 86400");
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    /// The sources closer to the command line override the others.
    private RequestHeaders headers(Map<String, String> environment) throws IOException {
        RequestHeaders headers = new RequestHeaders();
        for (String variable : List.of("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS")) {
            checked(variable, () -> headers.addEncoded(environment.getOrDefault(variable, "")));
        }
        if (otlpHeaderFile != null) {
            checkPrivate(otlpHeaderFile);
            List<String> lines = Files.readAllLines(otlpHeaderFile);
            checked(otlpHeaderFile.toString(), () -> headers.addLines(lines));
        }
        checked("--otlp-header", () -> otlpHeaders.forEach(headers::add));
        return headers;
    }

    private static void checked(String source, Runnable add) {
        try {
            add.run();
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(
                    source + ": " + e.getMessage(), "a header is NAME=VALUE, for instance api-key=...");
        }
    }

    private static String token(Path file) throws IOException {
        checkPrivate(file);
        String token = Files.readString(file).strip();
        if (!TOKEN.matcher(token).matches()) {
            throw CommandFailure.usage(
                    file + " holds no token: 16 or more of A-Z a-z 0-9 . _ ~ -",
                    "try: (umask 077; openssl rand -hex 32 > " + file + ")");
        }
        return token;
    }

    /// Checks that others cannot read a file. A group may read a file that root gave to it: Kubernetes
    /// provides secrets this way to a pod with `fsGroup`, whose members are only the pod's processes. But the
    /// group of a user's own file may include all users.
    private static void checkPrivate(Path file) throws IOException {
        Set<PosixFilePermission> others = EnumSet.of(
                PosixFilePermission.GROUP_READ,
                PosixFilePermission.GROUP_WRITE,
                PosixFilePermission.OTHERS_READ,
                PosixFilePermission.OTHERS_WRITE);
        if (Files.getAttribute(file, "unix:uid").equals(0)) {
            others.remove(PosixFilePermission.GROUP_READ);
        }
        others.retainAll(Files.getPosixFilePermissions(file));
        if (!others.isEmpty()) {
            throw CommandFailure.usage("others can read or write " + file, "try: chmod 600 " + file);
        }
    }

    private static WebServer bind(
            InetSocketAddress address,
            WatchedSessions sessions,
            SessionSource source,
            @Nullable String token,
            String host)
            throws IOException {
        try {
            return new WebServer(address, sessions, source, token, host);
        } catch (BindException e) {
            throw CommandFailure.failed(
                    "cannot listen on " + address.getHostString() + ":" + address.getPort() + ": " + e.getMessage(),
                    "--listen HOST:0 takes a free port");
        }
    }

    private static String url(InetSocketAddress address) {
        String host = address.getHostString();
        return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort() + "/";
    }

    private static String hostName() throws IOException {
        return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    }
}
