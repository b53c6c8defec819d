package org.mdlagent.arch.cpu;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// T_max of a processor and its evidence: a properties file that `mdl calibrate` writes and the agent reads.
///
/// A file that another user could have written is rejected: a T_max that is too short crashes programs.
///
/// @param cpu                where it was measured
/// @param measured           when, RFC 3339; as text, because reading dates takes a starting agent milliseconds
/// @param tmaxTicks          the wait after which a store to code is visible to instruction fetch everywhere
/// @param factor             by which the larger of the next two was multiplied
/// @param floorTicks         below which T_max is never put
/// @param failingWaitTicks   the longest wait at which patching still failed, -1 when it failed at none
/// @param latencyTicks       the longest visibility latency that was observed
/// @param samples            of the visibility latency
/// @param toggles            without a failure, at longer waits than the failing ones
/// @param agreementLowTicks  another calibration of the same length gives no T_max below this
/// @param agreementHighTicks and none above this
public record Calibration(
        CpuIdentity cpu,
        String measured,
        long tmaxTicks,
        int factor,
        long floorTicks,
        long failingWaitTicks,
        long latencyTicks,
        long samples,
        long toggles,
        long agreementLowTicks,
        long agreementHighTicks) {
    private static final String FORMAT = "1";
    private static final int FILE_BYTES_MAX = 16 << 10;
    private static final long TICKS_MAX = 1_000_000_000;
    private static final long MACHINE_OWNER = 0;
    private static final int WRITABLE_BY_OTHERS = 022;

    /// Rule of three: with no failure in `n` trials, the rate is below 3 / `n` at 95 % confidence.
    private static final double RULE_OF_THREE = 3;

    public Calibration {
        if (tmaxTicks <= 0 || tmaxTicks > TICKS_MAX) {
            throw new IllegalArgumentException("tmaxTicks=" + tmaxTicks + " is not from 1 to " + TICKS_MAX);
        }
        if (tmaxTicks < Math.max(floorTicks, Math.max(failingWaitTicks, latencyTicks))) {
            throw new IllegalArgumentException("tmaxTicks=" + tmaxTicks + " is less than its own measurements");
        }
    }

    /// Upper bound of failures per toggle, at 95 % confidence.
    public double failureRateBound() {
        return RULE_OF_THREE / toggles;
    }

    /// Paths of calibrations: the user's, which `mdl calibrate` writes, and the machine's.
    ///
    /// @param stateHome value of `XDG_STATE_HOME`, or null
    /// @param home      the user's directory, or null
    public static List<Path> files(@Nullable String stateHome, @Nullable String home) {
        List<Path> files = new ArrayList<>(2);
        if (stateHome != null && stateHome.startsWith("/")) {
            files.add(Path.of(stateHome, "mdl/tmax.properties"));
        } else if (home != null && home.startsWith("/")) {
            files.add(Path.of(home, ".local/state/mdl/tmax.properties"));
        }
        files.add(Path.of("/etc/mdl/tmax.properties"));
        return files;
    }

    /// Writes the file atomically, writable by its owner only.
    public void write(Path file) throws IOException {
        Path directory = Files.createDirectories(file.toAbsolutePath().getParent());
        Path draft = Files.createTempFile(directory, "tmax", ".new");
        try {
            Files.writeString(draft, text());
            Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-r--r--"));
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    /// Reads a file owned by this process's user or by root.
    ///
    /// @throws java.nio.file.NoSuchFileException if there is none
    /// @throws IOException if it cannot be read, is not a calibration, or another user could have written it
    public static Calibration read(Path file) throws IOException {
        long self = owner(Path.of("/proc/self"));
        long owner = owner(file, LinkOption.NOFOLLOW_LINKS);
        if (owner != self && owner != MACHINE_OWNER) {
            throw new IOException("it belongs to user " + owner);
        }
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("it is not a regular file");
        }
        int mode = (int) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if ((mode & WRITABLE_BY_OTHERS) != 0) {
            throw new IOException("others may write to it");
        }
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            byte[] bytes = in.readNBytes(FILE_BYTES_MAX + 1);
            if (bytes.length > FILE_BYTES_MAX) {
                throw new IOException("it is longer than " + FILE_BYTES_MAX + " bytes");
            }
            return parse(new String(bytes, StandardCharsets.ISO_8859_1));
        }
    }

    private static long owner(Path path, LinkOption... options) throws IOException {
        return Integer.toUnsignedLong((int) Files.getAttribute(path, "unix:uid", options));
    }

    String text() {
        return String.format(
                Locale.ROOT,
                """
                # T_max, measured by: mdl calibrate
                format=%s
                vendor=%s
                family=%d
                model=%d
                stepping=%d
                modelName=%s
                microcode=%s
                hypervisor=%s
                tscInvariant=%b
                tscHz=%d
                measured=%s
                tmaxTicks=%d
                factor=%d
                floorTicks=%d
                failingWaitTicks=%d
                latencyTicks=%d
                samples=%d
                toggles=%d
                failureRateBound=%.2g
                agreementLowTicks=%d
                agreementHighTicks=%d
                """,
                FORMAT,
                cpu.vendor(),
                cpu.family(),
                cpu.model(),
                cpu.stepping(),
                cpu.modelName(),
                cpu.microcode(),
                cpu.hypervisor(),
                cpu.tscInvariant(),
                cpu.tscHz(),
                measured,
                tmaxTicks,
                factor,
                floorTicks,
                failingWaitTicks,
                latencyTicks,
                samples,
                toggles,
                failureRateBound(),
                agreementLowTicks,
                agreementHighTicks);
    }

    static Calibration parse(String text) throws IOException {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader(text));
            Fields fields = new Fields(properties);
            if (!fields.text("format").equals(FORMAT)) {
                throw new IOException("its format is " + fields.text("format") + ", not " + FORMAT);
            }
            return new Calibration(
                    new CpuIdentity(
                            fields.text("vendor"),
                            (int) fields.number("family"),
                            (int) fields.number("model"),
                            (int) fields.number("stepping"),
                            fields.text("modelName"),
                            fields.text("microcode"),
                            fields.text("hypervisor"),
                            fields.text("tscInvariant").equals("true"),
                            fields.number("tscHz")),
                    fields.text("measured"),
                    fields.number("tmaxTicks"),
                    (int) fields.number("factor"),
                    fields.number("floorTicks"),
                    fields.number("failingWaitTicks"),
                    fields.number("latencyTicks"),
                    fields.number("samples"),
                    fields.number("toggles"),
                    fields.number("agreementLowTicks"),
                    fields.number("agreementHighTicks"));
        } catch (IllegalArgumentException e) {
            throw new IOException("it is damaged: " + e.getMessage(), e);
        }
    }

    private record Fields(Properties properties) {
        String text(String key) {
            String value = properties.getProperty(key);
            if (value == null) {
                throw new IllegalArgumentException("there is no " + key);
            }
            return value;
        }

        long number(String key) {
            try {
                return Long.parseLong(text(key));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(key + " is not a number", e);
            }
        }
    }
}
