package org.mdlagent.runtime.cli.names;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.profiler.report.file.FunctionNames;

/// Names of functions of a library that is built and stripped here, by each way that they can be had.
class DebugNamesTest {
    private static final String SOURCE = """
            struct Pile { int height; int add(int more); };
            __attribute__((noinline)) int Pile::add(int more) { return height += more; }
            extern "C" __attribute__((noinline)) int plain(int x) { return x * 3; }
            """;

    @TempDir
    Path directory;

    private final List<String> messages = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();
    private @Nullable HttpServer server;
    private Path stripped = Path.of("");
    private Path debug = Path.of("");
    private String build = "";
    private long plain;
    private long add;

    @BeforeEach
    void build() throws Exception {
        Path source = Files.writeString(directory.resolve("library.cpp"), SOURCE);
        Path whole = directory.resolve("whole.so");
        run("g++", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,--build-id", "-o", whole, source);
        debug = directory.resolve("apart/library.debug");
        Files.createDirectories(debug.getParent());
        run("objcopy", "--only-keep-debug", whole, debug);
        stripped = directory.resolve("library.so");
        run("objcopy", "--strip-all", whole, stripped);
        try (ElfFile elf = ElfFile.open(whole)) {
            build = requireNonNull(elf.buildId());
            plain = elf.symbols().function("plain");
            add = elf.symbols().function("_ZN4Pile3addEi");
        }
        assertThat(plain).isNotZero();
        assertThat(add).isNotZero();
        try (ElfFile elf = ElfFile.open(stripped)) {
            assertThat(elf.symbols().at(plain)).as("the name is gone").isNegative();
        }
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
    }

    @Test
    void shouldKnowNoneWhereNothingIsFound() {
        assertThat(find(names(Map.of(), true), plain)).isNull();
        assertThat(messages).isEmpty();
    }

    @Test
    void shouldTakeNamesFromTheFileThatTheImageIsLinkedTo() throws Exception {
        Files.copy(debug, directory.resolve("library.debug"));
        run("objcopy", "--add-gnu-debuglink=" + debug, stripped);

        DebugNames names = names(Map.of(), false);

        assertThat(find(names, plain)).isEqualTo(new FunctionNames.Found("plain", "plain"));
        assertThat(find(names, add)).isEqualTo(new FunctionNames.Found("Pile::add(int)", "_ZN4Pile3addEi"));
        assertThat(find(names, plain + 1)).isNull();
    }

    @Test
    void shouldTakeNoNamesOfAnotherBuild() throws Exception {
        Files.copy(debug, directory.resolve("library.debug"));
        run("objcopy", "--add-gnu-debuglink=" + debug, stripped);
        DebugNames names = names(Map.of(), false);

        assertThat(names.find(stripped.toString(), "0123456789abcdef", plain)).isNull();
        assertThat(names.find(stripped.toString(), "../../etc/passwd", plain)).isNull();
        assertThat(names.find("not\0a path", build, plain)).isNull();
    }

    /// As Fedora's packages have it: `find-debuginfo` makes it so.
    @Test
    void shouldTakeNamesThatAreLeftInTheImage() throws Exception {
        addMiniDebugInfo();

        DebugNames names = names(Map.of(), false);

        assertThat(find(names, plain)).isEqualTo(new FunctionNames.Found("plain", "plain"));
        assertThat(find(names, add)).isEqualTo(new FunctionNames.Found("Pile::add(int)", "_ZN4Pile3addEi"));
        assertThat(messages).isEmpty();
    }

    private void addMiniDebugInfo() throws Exception {
        Path mini = directory.resolve("mini");
        run("objcopy", "-S", "--keep-symbol=plain", "--keep-symbol=_ZN4Pile3addEi", debug, mini);
        run("xz", "-k", mini);
        run("objcopy", "--add-section", ".gnu_debugdata=" + mini + ".xz", stripped);
    }

    /// Damaged ones lead to a message, and nothing else.
    @Test
    void shouldBearAnyMiniDebugInfo() throws Exception {
        Path file = directory.resolve("mini");
        Files.write(file, new byte[100_000]);
        run("xz", "-k", file);
        byte[] packed = Files.readAllBytes(directory.resolve("mini.xz"));
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 3000; i++) {
            byte[] damaged = packed.clone();
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                MiniDebugInfo.unpack(i % 3 == 0 ? Arrays.copyOf(damaged, random.nextInt(damaged.length)) : damaged);
            } catch (IOException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(2000);
    }

    @Test
    void shouldRefuseMiniDebugInfoThatIsTooLarge() throws Exception {
        Path file = directory.resolve("zeros");
        Files.write(file, new byte[MiniDebugInfo.BYTES_MAX + 1]);
        run("xz", "-0", file);
        run("objcopy", "--add-section", ".gnu_debugdata=" + file + ".xz", stripped);

        assertThat(find(names(Map.of(), false), plain)).isNull();
        assertThat(messages).singleElement().asString().contains(".gnu_debugdata has more than 64 MiB");
    }

    @Test
    void shouldFetchFromAServerOnceAndKeepWhatComes() throws Exception {
        String url = serve(exchange -> answer(exchange, Files.readAllBytes(debug)));
        Map<String, String> environment = Map.of("DEBUGINFOD_URLS", " ima:enforcing " + url + "/ ");

        assertThat(find(names(environment, false), plain))
                .as("it is not to ask")
                .isNull();
        assertThat(asked).isEmpty();
        assertThat(find(names(environment, true), add))
                .isEqualTo(new FunctionNames.Found("Pile::add(int)", "_ZN4Pile3addEi"));
        assertThat(find(names(environment, true), plain)).isEqualTo(new FunctionNames.Found("plain", "plain"));
        assertThat(find(names(Map.of(), false), plain)).isNotNull();

        assertThat(asked).containsExactly("/buildid/" + build + "/debuginfo");
        assertThat(messages).containsExactly("asking " + url + " for the names in " + stripped);
        Path cached = directory.resolve("cache/debuginfod_client/" + build + "/debuginfo");
        assertThat(cached).hasSameBinaryContentAs(debug);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cached)))
                .isEqualTo("rw-------");
        for (String made : List.of("cache", "cache/debuginfod_client", "cache/debuginfod_client/" + build)) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(made))))
                    .as(made)
                    .isEqualTo("rwx------");
        }
    }

    @Test
    void shouldAskTheNextServerWhereOneHasNothing() throws Exception {
        String url = serve(exchange -> {
            if (asked.size() == 1) {
                exchange.sendResponseHeaders(404, -1);
            } else {
                answer(exchange, Files.readAllBytes(debug));
            }
        });

        assertThat(find(names(Map.of("DEBUGINFOD_URLS", url + " " + url), true), plain))
                .isNotNull();
        assertThat(asked).hasSize(2);
    }

    @Test
    void shouldRefuseWhatIsNotTheFileThatWasAskedFor() throws Exception {
        Path other = directory.resolve("other.so");
        run("g++", "-shared", "-fPIC", "-g", "-Wl,--build-id", "-o", other, directory.resolve("library.cpp"));

        assertThat(said(exchange -> answer(exchange, Files.readAllBytes(other))))
                .contains("something else than");
        assertThat(said(exchange -> answer(exchange, "<html>".getBytes(StandardCharsets.UTF_8))))
                .contains("something else than");
        assertThat(said(exchange -> answer(exchange, new byte[0]))).contains("something else than");
        assertThat(said(exchange -> exchange.sendResponseHeaders(500, -1))).contains("status 500");
        try (var files = Files.walk(directory.resolve("cache"))) {
            assertThat(files.filter(Files::isRegularFile)).as("nothing is kept").isEmpty();
        }
    }

    @Test
    void shouldBoundSizeAndTime() throws Exception {
        Map<String, String> limits = Map.of("DEBUGINFOD_MAXSIZE", "1000", "DEBUGINFOD_TIMEOUT", "1");
        byte[] large = new byte[100_000];

        assertThat(said(exchange -> answer(exchange, large), limits)).contains("more than 1000 bytes");
        assertThat(said(
                        exchange -> {
                            exchange.sendResponseHeaders(200, 0); // does not say how many
                            exchange.getResponseBody().write(large);
                            exchange.close();
                        },
                        limits))
                .contains("more than 1000 bytes");
        CountDownLatch over = new CountDownLatch(1);
        assertThat(said(
                        exchange -> {
                            try {
                                over.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        limits))
                .containsIgnoringCase("timed out");
        over.countDown();
    }

    @Test
    void shouldNotAskAServerAgainThatCannotBeReached() {
        DebugNames names = names(Map.of("DEBUGINFOD_URLS", "http://127.0.0.1:1"), true);

        assertThat(names.find("/gone/a", "aaaa0001", 1)).isNull();
        assertThat(names.find("/gone/b", "bbbb0001", 1)).isNull();

        assertThat(messages).hasSize(2);
    }

    /// What is said of a server that does so.
    private String said(Action action) throws IOException {
        return said(action, Map.of());
    }

    private String said(Action action, Map<String, String> limits) throws IOException {
        messages.clear();
        Map<String, String> environment = new HashMap<>(limits);
        environment.put("DEBUGINFOD_URLS", serve(action));
        assertThat(find(names(environment, true), plain)).isNull();
        assertThat(messages).hasSize(2);
        return messages.getLast();
    }

    private interface Action {
        void run(HttpExchange exchange) throws IOException;
    }

    private String serve(Action action) throws IOException {
        stop();
        HttpServer started = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server = started;
        started.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI().getPath());
            action.run(exchange);
            exchange.close();
        });
        started.start();
        return "http://127.0.0.1:" + started.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, byte[] bytes) throws IOException {
        exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private FunctionNames.@Nullable Found find(DebugNames names, long offset) {
        return names.find(stripped.toString(), build, offset);
    }

    private DebugNames names(Map<String, String> environment, boolean fetches) {
        Map<String, String> all = new HashMap<>(environment);
        all.put("XDG_CACHE_HOME", directory.resolve("cache").toString());
        return new DebugNames(all, DemanglerTest.LIBRARY, fetches, messages::add);
    }

    private void run(Object... command) throws IOException, InterruptedException {
        List<String> words = Arrays.stream(command).map(Object::toString).toList();
        assertThat(new ProcessBuilder(words).inheritIO().start().waitFor()).isZero();
    }
}
