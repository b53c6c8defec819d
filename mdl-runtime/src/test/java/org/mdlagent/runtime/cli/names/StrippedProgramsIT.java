package org.mdlagent.runtime.cli.names;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// A stripped program is profiled without names; what was stripped turns up when it has ended.
class StrippedProgramsIT {
    private static final String BARE = "(?s).*\"symbol\" *: *\"stripped\\+0x[0-9a-f]+\".*";

    @TempDir
    Path directory;

    @Test
    void shouldNameFunctionsOnceTheirDebugFileIsThere() throws Exception {
        compile();
        tool("objcopy", "--only-keep-debug", "stripped", "stripped.debug");
        tool("objcopy", "--strip-all", "--add-gnu-debuglink=stripped.debug", "stripped");
        Path debug = directory.resolve("stripped.debug");
        byte[] file = Files.readAllBytes(debug);
        Files.delete(debug);
        Path session = run();
        String cache = directory.resolve("cache").toString();

        assertThat(report(session, Map.of("XDG_CACHE_HOME", cache)))
                .matches(BARE)
                .doesNotContain("\"leaf\"");

        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, file.length);
            exchange.getResponseBody().write(file);
            exchange.close();
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            assertThat(report(session, Map.of("XDG_CACHE_HOME", cache, "DEBUGINFOD_URLS", url)))
                    .contains("\"leaf\"", "\"caller\"", "\"main\"")
                    .doesNotMatch(BARE);
        } finally {
            server.stop(0);
        }

        Files.write(debug, file);
        Map<String, String> otherCache =
                Map.of("XDG_CACHE_HOME", directory.resolve("none").toString());
        assertThat(report(session, otherCache)).contains("\"leaf\"").doesNotMatch(BARE);
        assertThat(Dist.run(directory, otherCache, List.of(Dist.mdl(), "list", "functions", session.toString()))
                        .text())
                .containsPattern("100 .* leaf\n")
                .containsPattern("50 .* caller\n");
    }

    /// As Fedora has it.
    @Test
    void shouldNameFunctionsBySymbolsThatAreLeftInTheProgram() throws Exception {
        compile();
        tool("objcopy", "-S", "--keep-symbol=leaf", "--keep-symbol=main", "stripped", "left");
        tool("xz", "left");
        tool("objcopy", "--strip-all", "--add-section", ".gnu_debugdata=left.xz", "stripped");

        assertThat(report(run(), Map.of()))
                .contains("\"leaf\"", "\"main\"")
                .doesNotContain("\"caller\"")
                .matches(BARE);
    }

    private void compile() throws Exception {
        Path source = Files.writeString(directory.resolve("stripped.c"), """
                __attribute__((noinline, noclone)) static int leaf(int x) { __asm__ volatile(""); return x * 3; }
                __attribute__((noinline, noclone)) static int caller(int x) { return leaf(x) + leaf(x + 1); }
                int main(void) { int s = 0; for (int i = 0; i < 50; i++) s += caller(i); return s == 1; }
                """);
        tool("gcc", "-O2", "-Wl,--build-id", "-o", "stripped", source.toString());
    }

    private Path run() throws Exception {
        Path session = directory.resolve("session");
        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", session.toString(), "--", "./stripped"));
        assertThat(run.status()).as(run.err()).isZero();
        return session;
    }

    private String report(Path session, Map<String, String> environment) throws Exception {
        return Dist.run(directory, environment, List.of(Dist.mdl(), "report", "--format=json", session.toString()))
                .text();
    }

    private void tool(String... command) throws Exception {
        assertThat(Dist.run(directory, Map.of(), List.of(command)).status()).isZero();
    }
}
