package org.mdlagent.runtime.cli.names;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DebugFile;
import org.mdlagent.arch.elf.ElfFile;

/// Servers with the debug files of distributions, by build id (debuginfod(8): `GET /buildid/ID/debuginfo`),
/// and the cache of fetched files, which is shared with debuginfod's own clients.
///
/// Servers come from `DEBUGINFOD_URLS`. An answer is limited in time and size, and is put into the cache only
/// if it is a file of that build. A server that cannot be reached is not asked again.
final class DebugServers {
    private static final FileAttribute<?> OWNERS_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<?> OWNERS_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final List<URI> servers;
    private final @Nullable Path cache;
    private final Limits limits;
    private final Consumer<String> messages;

    /// @param silence longest time without a byte
    /// @param whole   longest time for an answer
    /// @param bytes   maximum size of an answer
    record Limits(Duration silence, Duration whole, long bytes) {
        private static final Duration SILENCE = Duration.ofSeconds(20);
        private static final Duration WHOLE = Duration.ofMinutes(5);
        private static final long BYTES = 2L << 30;

        /// From debuginfod's variables; 0 means no limit there and the default here.
        static Limits of(Map<String, String> environment) {
            return new Limits(
                    seconds(environment.get("DEBUGINFOD_TIMEOUT"), SILENCE),
                    seconds(environment.get("DEBUGINFOD_MAXTIME"), WHOLE),
                    number(environment.get("DEBUGINFOD_MAXSIZE"), BYTES));
        }

        private static Duration seconds(@Nullable String text, Duration usual) {
            return Duration.ofSeconds(Math.min(number(text, usual.toSeconds()), WHOLE.toSeconds() * 12));
        }

        private static long number(@Nullable String text, long usual) {
            try {
                long number = text == null ? 0 : Long.parseLong(text.strip());
                return number > 0 ? number : usual;
            } catch (NumberFormatException e) {
                return usual;
            }
        }
    }

    /// @param cache null if there is no place for it: then nothing is fetched
    DebugServers(List<URI> servers, @Nullable Path cache, Limits limits, Consumer<String> messages) {
        this.servers = new ArrayList<>(servers);
        this.cache = cache;
        this.limits = limits;
        this.messages = messages;
    }

    static DebugServers of(Map<String, String> environment, Consumer<String> messages) {
        List<URI> servers = new ArrayList<>();
        for (String word :
                environment.getOrDefault("DEBUGINFOD_URLS", "").strip().split("\\s+")) {
            // Other words configure signature checks, which are not supported here.
            if (word.startsWith("http://") || word.startsWith("https://")) {
                try {
                    servers.add(URI.create(word.replaceFirst("/+$", "")));
                } catch (IllegalArgumentException e) {
                    messages.accept("DEBUGINFOD_URLS: " + e.getMessage());
                }
            }
        }
        return new DebugServers(servers, cache(environment), Limits.of(environment), messages);
    }

    private static @Nullable Path cache(Map<String, String> environment) {
        String own = environment.getOrDefault("DEBUGINFOD_CACHE_PATH", "");
        if (!own.isEmpty()) {
            return Path.of(own);
        }
        String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
        String home = environment.getOrDefault("HOME", "");
        if (caches.isEmpty() && home.isEmpty()) {
            return null;
        }
        return (caches.isEmpty() ? Path.of(home, ".cache") : Path.of(caches)).resolve("debuginfod_client");
    }

    /// The debug file of a build, null if there is none.
    ///
    /// @param image   for messages
    /// @param build   in lower-case hexadecimal
    /// @param fetches whether servers are asked when it is not in the cache
    @Nullable
    Path file(String image, String build, boolean fetches) {
        if (cache == null) {
            return null;
        }
        Path file = cache.resolve(build).resolve("debuginfo");
        if (isOf(file, build)) {
            return file;
        }
        for (int i = 0; fetches && i < servers.size(); i++) {
            URI server = servers.get(i);
            messages.accept("asking " + server + " for the names in " + image);
            try {
                if (fetch(server, build, file)) {
                    return file;
                }
            } catch (IOException e) {
                messages.accept(server + ": " + e.getMessage());
                servers.remove(i);
                i--;
            }
        }
        return null;
    }

    private static boolean isOf(Path file, String build) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || !Files.isReadable(file)) {
            return false;
        }
        try (ElfFile known = DebugFile.open(file, build)) {
            return known != null;
        } catch (IOException e) {
            return false;
        }
    }

    /// @return whether the server has it
    /// @throws IOException when it cannot be reached, or its answer is not the requested file
    private boolean fetch(URI server, String build, Path file) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create(server + "/buildid/" + build + "/debuginfo").toURL().openConnection();
        connection.setConnectTimeout((int) limits.silence().toMillis());
        connection.setReadTimeout((int) limits.silence().toMillis());
        connection.setRequestProperty("Accept-Encoding", "identity");
        connection.setRequestProperty("User-Agent", "mdl");
        try {
            int status = connection.getResponseCode();
            if (status == HttpURLConnection.HTTP_NOT_FOUND) {
                return false;
            }
            if (status != HttpURLConnection.HTTP_OK) {
                throw new IOException("answers with status " + status);
            }
            if (connection.getContentLengthLong() > limits.bytes()) {
                throw tooLarge();
            }
            keep(connection, build, file);
            return true;
        } finally {
            connection.disconnect();
        }
    }

    private void keep(HttpURLConnection connection, String build, Path file) throws IOException {
        Path directory = file.getParent();
        Files.createDirectories(directory, OWNERS_DIRECTORY);
        Path incomplete = Files.createTempFile(directory, "debuginfo.", "", OWNERS_FILE);
        try {
            try (InputStream in = connection.getInputStream();
                    OutputStream out = Channels.newOutputStream(
                            FileChannel.open(incomplete, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
                copy(in, out);
            }
            if (!isOf(incomplete, build)) {
                throw new IOException("answers with something else than the debug file of build " + build);
            }
            Files.move(incomplete, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(incomplete);
        }
    }

    private void copy(InputStream in, OutputStream out) throws IOException {
        long end = System.nanoTime() + limits.whole().toNanos();
        byte[] piece = new byte[1 << 16];
        long size = 0;
        for (int read; (read = in.read(piece)) >= 0; ) {
            size += read;
            if (size > limits.bytes()) {
                throw tooLarge();
            }
            if (System.nanoTime() - end > 0) {
                throw new IOException("takes longer than " + limits.whole().toSeconds() + " s (DEBUGINFOD_MAXTIME)");
            }
            out.write(piece, 0, read);
        }
    }

    private IOException tooLarge() {
        return new IOException("answers with more than " + limits.bytes() + " bytes (DEBUGINFOD_MAXSIZE)");
    }
}
