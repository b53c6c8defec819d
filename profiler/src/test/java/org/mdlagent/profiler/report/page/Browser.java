package org.mdlagent.profiler.report.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.format.Tool;

/// A Chromium without a window, driven by its DevTools protocol: keys and clicks come to a page as a person's do.
final class Browser implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final Path own = Files.createTempDirectory("browser");
    private final HttpClient client = HttpClient.newHttpClient();
    private final WebSocket socket;
    private final BlockingQueue<JsonNode> answers = new LinkedBlockingQueue<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<String> exceptions = new CopyOnWriteArrayList<>();
    private int calls;

    /// @param directory for its log
    Browser(Path directory) throws Exception {
        Tool chromium = Tool.installed("chromium", "chromium");
        process = new ProcessBuilder(
                        chromium.program().toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + own,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("browser.log").toFile())
                .start();
        try {
            String port = port(own.resolve("DevToolsActivePort"));
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/new"))
                    .PUT(HttpRequest.BodyPublishers.noBody())
                    .build();
            String tab =
                    client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            String address = JSON.readTree(tab).at("/webSocketDebuggerUrl").asText();
            socket = client.newWebSocketBuilder()
                    .buildAsync(URI.create(address), new Messages())
                    .join();
            for (String domain : List.of("Page", "Runtime", "Network")) {
                call(domain + ".enable", Map.of());
            }
        } catch (Exception e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /// The file has it once the browser listens.
    private String port(Path file) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0 && process.isAlive()) {
            if (Files.exists(file) && Files.readString(file).indexOf('\n') > 0) {
                return Files.readAllLines(file).getFirst();
            }
            Thread.sleep(50);
        }
        throw new IOException("the browser does not listen");
    }

    private final class Messages implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                take(text.toString());
                text.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    private void take(String text) {
        try {
            JsonNode message = JSON.readTree(text);
            switch (message.at("/method").asText()) {
                case "" -> answers.add(message);
                case "Network.requestWillBeSent" ->
                    requests.add(message.at("/params/request/url").asText());
                case "Runtime.exceptionThrown" ->
                    exceptions.add(message.at("/params/exceptionDetails").toString());
                default -> {
                    // nothing that a test asks for
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(text, e);
        }
    }

    private JsonNode call(String method, Map<String, ?> parameters) throws Exception {
        calls++;
        ObjectNode message = JSON.createObjectNode().put("id", calls).put("method", method);
        message.set("params", JSON.valueToTree(parameters));
        socket.sendText(message.toString(), true).join();
        JsonNode answer = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(answer).as(method).isNotNull();
        assertThat(answer.at("/id").asInt()).as(method).isEqualTo(calls);
        assertThat(answer.at("/error").isMissingNode()).as(answer.toString()).isTrue();
        return answer.at("/result");
    }

    /// Opens a page, and waits until it is there.
    void open(URI page, int width, boolean dark) throws Exception {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
        String scheme = dark ? "dark" : "light";
        call(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
        call("Page.navigate", Map.of("url", page.toString()));
        await("document.readyState === 'complete' && location.href === '" + page + "'");
    }

    /// What an expression is, which must not fail.
    JsonNode eval(String expression) throws Exception {
        JsonNode answer = call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
        assertThat(answer.at("/exceptionDetails").isMissingNode())
                .as(answer.toString())
                .isTrue();
        return answer.at("/result/value");
    }

    String text(String expression) throws Exception {
        return eval(expression).asText();
    }

    /// Waits until it is true.
    void await(String expression) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!eval(expression).asBoolean()) {
            assertThat(System.nanoTime() - end).as(expression).isNegative();
            Thread.sleep(50);
        }
    }

    /// Presses keys, by what the standard calls them.
    void press(String... keys) throws Exception {
        for (String key : keys) {
            String text = key.length() == 1 ? key : key.equals("Enter") ? "\r" : "";
            call("Input.dispatchKeyEvent", Map.of("type", "keyDown", "key", key, "text", text));
            call("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key));
        }
    }

    /// Writes into what has the focus.
    void type(String text) throws Exception {
        call("Input.insertText", Map.of("text", text));
    }

    /// Clicks into the middle of the first element that a selector finds.
    void click(String selector) throws Exception {
        JsonNode place = eval("(() => { const box = document.querySelector('" + selector
                + "').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()");
        for (String type : List.of("mousePressed", "mouseReleased")) {
            call(
                    "Input.dispatchMouseEvent",
                    Map.of(
                            "type",
                            type,
                            "x",
                            place.get(0).asDouble(),
                            "y",
                            place.get(1).asDouble(),
                            "button",
                            "left",
                            "clickCount",
                            1));
        }
    }

    /// All that was asked for.
    List<String> requests() {
        return requests;
    }

    List<String> exceptions() {
        return exceptions;
    }

    @Override
    public void close() throws IOException {
        socket.abort();
        process.destroy();
        process.onExit().join();
        // Best effort: processes that the browser has started may still write there.
        new ProcessBuilder("rm", "-rf", own.toString()).start().onExit().join();
    }
}
