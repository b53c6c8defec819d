package org.mdlagent.runtime.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// The Debian package: built, installed in a bare root directory without network, used there, and removed.
class PackageIT {
    private static final Path MAKE = Path.of("src/dist/package.sh").toAbsolutePath();
    private static final Path BARE_ROOT = Path.of("src/test/sh/bare-root.sh").toAbsolutePath();

    /// What dpkg keeps, and what the package's user has recorded.
    private static final Set<String> NOT_THE_PACKAGES = Set.of("dev", "proc", "var/lib/dpkg", "root/.local");

    @TempDir
    Path directory;

    private Path root = Path.of("");
    private Path made = Path.of("");

    private void makePackage(String compression) throws Exception {
        assumeTrue(Dist.works("dpkg"), "no dpkg: this is no Debian");
        run(Map.of("DEB_COMPRESSION", compression), MAKE.toString(), directory.toString());
        made = list(directory).stream()
                .filter(file -> file.toString().endsWith("_amd64.deb"))
                .findFirst()
                .orElseThrow();
        root = directory.resolve("root");
    }

    private String run(Map<String, String> environment, String... command) throws Exception {
        Dist.Outcome outcome = Dist.run(directory, environment, List.of(command));
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return outcome.text();
    }

    private String run(String... command) throws Exception {
        return run(Map.of(), command);
    }

    private Dist.Outcome runInside(String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of(BARE_ROOT.toString(), "run", root.toString()));
        all.addAll(List.of(command));
        return Dist.run(directory, Map.of(), all);
    }

    private Set<String> files() throws IOException {
        Set<String> files = new TreeSet<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path entered, BasicFileAttributes attributes) {
                String name = root.relativize(entered).toString();
                files.add(name);
                return NOT_THE_PACKAGES.contains(name) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                files.add(root.relativize(file).toString());
                return FileVisitResult.CONTINUE;
            }
        });
        files.removeAll(NOT_THE_PACKAGES);
        return files;
    }

    @Test
    void shouldBeInstalledUsedAndRemovedWithoutATrace() throws Exception {
        makePackage("none");
        run(BARE_ROOT.toString(), "make", root.toString(), "base-files", "dash", "coreutils");
        Set<String> before = files();

        run("dpkg", "--root=" + root, "--install", made.toString());
        Dist.Outcome ran = runInside("mdl", "run", "--wait", "--report", "--", "/usr/bin/sha256sum", "/usr/bin/env");
        String library = "LD_PRELOAD=/usr/lib/mdlagent/lib/libmdlagent.so";
        Dist.Outcome left = runInside("env", "MDL_OPTIONS=wait=true", library, "sha256sum", "/usr/bin/env");
        // This sees the data in shared memory, but not the session that they belong to.
        run(Dist.mdl(), "list", "sessions");
        Dist.Outcome page = runInside("mdl", "report", "--format", "html");
        List<Path> sessions = list(root.resolve("root/.local/state/mdl/sessions"));
        String digest = runInside("/usr/bin/sha256sum", "/usr/bin/env").text();
        String manual;
        try (InputStream text =
                new GZIPInputStream(Files.newInputStream(root.resolve("usr/share/man/man1/mdl-run.1.gz")))) {
            manual = new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
        run("dpkg", "--root=" + root, "--remove", "mdlagent");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.text()).isEqualTo(digest).contains("/usr/bin/env");
        assertThat(ran.err()).startsWith("mdl  sha256sum · pid ").contains("sha256sum+0x");
        assertThat(left.text()).isEqualTo(digest);
        assertThat(sessions).hasSize(2);
        assertThat(page.text()).as(page.err()).startsWith("<!DOCTYPE html>");
        assertThat(manual).startsWith(".TH").contains("\\-\\-report");
        assertThat(files()).isEqualTo(before);
        assertThat(Files.readString(root.resolve("var/lib/dpkg/status"))).doesNotContain("mdlagent");
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    @Tag("soak")
    @Test
    void shouldHaveNoErrorsByLintian() throws Exception {
        assumeTrue(Dist.works("lintian"), "no lintian; it is in Debian's package lintian");

        makePackage("xz");
        String found = run("lintian", "--allow-root", "--fail-on", "error", made.toString());

        assertThat(found.lines().filter(line -> line.startsWith("E:"))).isEmpty();
    }
}
