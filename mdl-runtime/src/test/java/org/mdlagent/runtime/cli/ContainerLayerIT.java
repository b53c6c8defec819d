package org.mdlagent.runtime.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// The layer that the container recipe makes, in the root of another image: each COPY of the recipe is carried
/// out as a copy with times, as builders of images do it, and programs run in namespaces of their own.
class ContainerLayerIT {
    private static final Path RECIPE = Dist.examples().resolve("production/Dockerfile");
    private static final Path BARE_ROOT = Path.of("src/test/sh/bare-root.sh").toAbsolutePath();
    private static final Pattern COPY = Pattern.compile("(?m)^COPY (\\S+) /(\\S+)$");
    private static final String PRELOAD = "LD_PRELOAD=/opt/mdlagent/lib/libmdlagent.so";
    private static final String STATE = "XDG_STATE_HOME=/state";
    private static final Path BUSYBOX = Path.of("/bin/busybox");
    private static final Path MUSL = Path.of("/lib/x86_64-linux-musl/libc.so");

    @TempDir
    Path directory;

    private void run(String... command) throws Exception {
        Dist.Outcome outcome = Dist.run(directory, Map.of(), List.of(command));
        assertThat(outcome.status()).as(outcome.err()).isZero();
    }

    private Dist.Outcome runInside(Path root, String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of(BARE_ROOT.toString(), "run", root.toString()));
        all.addAll(List.of(command));
        return Dist.run(directory, Map.of(), all);
    }

    /// Adds the layer to an image's root.
    private void addLayer(Path root) throws Exception {
        List<MatchResult> copies =
                COPY.matcher(Files.readString(RECIPE)).results().toList();
        Set<String> copied = new HashSet<>();
        for (MatchResult copy : copies) {
            Path from = Dist.root().resolve(copy.group(1));
            Path to = root.resolve(copy.group(2));
            Files.createDirectories(to);
            run("cp", "-a", Files.isDirectory(from) ? from + "/." : from.toString(), to.toString());
            copied.add(copy.group(1));
        }
        try (Stream<Path> parts = Files.list(Dist.root())) {
            assertThat(copied)
                    .as("what the recipe copies")
                    .isEqualTo(Set.copyOf(parts.map(part -> part.getFileName().toString())
                            .filter(part -> !part.startsWith(".") && !part.endsWith(".tar.gz"))
                            .toList()));
        }
    }

    @Test
    void shouldProfileTheProgramOfAnotherImage() throws Exception {
        assumeTrue(Dist.works("dpkg"), "no dpkg: this is no Debian");
        Path root = directory.resolve("root");
        run(BARE_ROOT.toString(), "make", root.toString(), "base-files", "dash", "coreutils");
        addLayer(root);

        String digest = runInside(root, "/usr/bin/sha256sum", "/usr/bin/env").text();
        Dist.Outcome ran = runInside(
                root, "/usr/bin/env", PRELOAD, STATE, "MDL_OPTIONS=wait", "/usr/bin/sha256sum", "/usr/bin/env");
        Dist.Outcome report = runInside(root, "/usr/bin/env", STATE, "/opt/mdlagent/bin/mdl", "report");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.text()).isEqualTo(digest).contains("/usr/bin/env");
        assertThat(ran.err()).isEmpty();
        assertThat(report.text())
                .as(report.err())
                .startsWith("mdl  sha256sum · pid ")
                .contains("sha256sum+0x");
        try (Stream<Path> sessions = Files.list(root.resolve("state/mdl/sessions"))) {
            assertThat(sessions).hasSize(1);
        }
    }

    private Path muslRoot() throws IOException {
        Path root = directory.resolve("musl");
        for (String part : List.of("bin", "lib", "dev", "proc", "usr/bin")) {
            Files.createDirectories(root.resolve(part));
        }
        Files.copy(BUSYBOX, root.resolve("bin/busybox"));
        for (String applet : List.of("sh", "env", "readlink")) {
            Files.createSymbolicLink(root.resolve("bin/" + applet), Path.of("busybox"));
        }
        Files.copy(MUSL, root.resolve("lib/ld-musl-x86_64.so.1"));
        return root;
    }

    /// As in Alpine: the program runs as it does without the layer, and mdl says why it does not.
    @Test
    void shouldStepAsideInAnImageOfMusl() throws Exception {
        assumeTrue(Dist.works("musl-gcc"), "no musl-gcc; it is in Debian's package musl-tools");
        assumeTrue(Files.exists(BUSYBOX), "no busybox; it is in Debian's package busybox-static");
        Path root = muslRoot();
        addLayer(root);
        Path source = Files.writeString(directory.resolve("hello.c"), """
                #include <stdio.h>
                int main(void) { puts("hello"); return 3; }
                """);
        run(
                "musl-gcc",
                "-O1",
                source.toString(),
                "-o",
                root.resolve("bin/hello").toString());

        Dist.Outcome ran = runInside(root, "/bin/env", PRELOAD, STATE, "/bin/hello");
        Dist.Outcome mdl = runInside(root, "/opt/mdlagent/bin/mdl", "report");

        assertThat(ran.status()).as(ran.err()).isEqualTo(3);
        assertThat(ran.text()).isEqualTo("hello\n");
        assertThat(ran.err()).isEmpty();
        assertThat(root.resolve("state")).doesNotExist();
        assertThat(mdl.status()).isEqualTo(1);
        assertThat(mdl.err()).startsWith("mdl: there is no glibc here");
    }
}
