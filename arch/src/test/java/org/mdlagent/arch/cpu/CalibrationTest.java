package org.mdlagent.arch.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Properties;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The file of a calibration, and whose word is taken for it.
class CalibrationTest {
    private static final long SEED = 0x7ea5e1;
    private static final Calibration CALIBRATION = new Calibration(
            new CpuIdentity("AuthenticAMD", 26, 2, 1, "AMD EPYC = \\ #: ü", "0x1", "KVMKVMKVM", true, 2_600_000_000L),
            "2026-01-01T00:00:00Z",
            6144,
            4,
            3000,
            400,
            1500,
            1_000_000,
            2_000_000,
            4096,
            8192);

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        file = directory.resolve("state/mdl/tmax.properties");
        CALIBRATION.write(file);
    }

    @Test
    void shouldReadWhatWasWritten() throws IOException {
        assertThat(Calibration.read(file)).isEqualTo(CALIBRATION);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r--r--");
        try (var entries = Files.list(file.getParent())) {
            assertThat(entries).containsExactly(file);
        }
    }

    @Test
    void shouldBeAPropertiesFile() throws IOException {
        Properties properties = new Properties();
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            properties.load(in);
        }

        assertThat(properties)
                .containsEntry("tmaxTicks", "6144")
                .containsEntry("modelName", "AMD EPYC = ? #: ?")
                .containsEntry("failureRateBound", "1.5e-06");
    }

    @Test
    void shouldLookInTheUsersDirectoryFirst() {
        assertThat(Calibration.files("/state", "/home/u"))
                .containsExactly(Path.of("/state/mdl/tmax.properties"), Path.of("/etc/mdl/tmax.properties"));
        assertThat(Calibration.files("relative", "/home/u"))
                .startsWith(Path.of("/home/u/.local/state/mdl/tmax.properties"));
        assertThat(Calibration.files(null, null)).containsExactly(Path.of("/etc/mdl/tmax.properties"));
    }

    @Test
    void shouldSayThatThereIsNone() {
        assertThatThrownBy(() -> Calibration.read(directory.resolve("none"))).isInstanceOf(NoSuchFileException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-rw-r--", "rw-r--rw-", "rwxrwxrwx"})
    void shouldRefuseAFileThatOthersMayWriteTo(String mode) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));

        assertRefused("others may write to it");
    }

    @Test
    void shouldRefuseAFileOfSomebodyElse() throws IOException {
        Assumptions.assumeTrue(System.getProperty("user.name").equals("root"), "only root gives files away");
        Files.setAttribute(file, "unix:uid", 4711);

        assertRefused("it belongs to user 4711");
    }

    @Test
    void shouldRefuseALink() throws IOException {
        Path target = Files.move(file, directory.resolve("elsewhere"));
        Files.createSymbolicLink(file, target);

        assertRefused("it is not a regular file");
    }

    @Test
    void shouldRefuseALongFile() throws IOException {
        Files.writeString(file, CALIBRATION.text() + "#".repeat(16 << 10));

        assertRefused("longer than");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "format=2",
                "format=1",
                "tmaxTicks=6144000000000",
                "tmaxTicks=0",
                "tmaxTicks=1499",
                "tmaxTicks=",
                "tmaxTicks=many",
                "vendor=\\u12"
            })
    void shouldRefuseADamagedFile(String lastLine) throws IOException {
        // The last line of a key counts, so most lines are appended. A wrong format and an empty file stand alone.
        Files.writeString(
                file, lastLine.startsWith("format") || lastLine.isEmpty() ? lastLine : CALIBRATION.text() + lastLine);

        assertThatThrownBy(() -> Calibration.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("it");
    }

    @Test
    void shouldNotBeLessThanWhatItWasMadeOf() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Calibration(
                        CALIBRATION.cpu(), CALIBRATION.measured(), 3000, 4, 3000, 400, 3001, 1, 1, 3000, 3000))
                .withMessageContaining("less than its own measurements");
    }

    /// Whatever stands in the file: a calibration that keeps its rules, or one kind of refusal.
    @Test
    void shouldBearAnyContent() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        byte[] good = CALIBRATION.text().getBytes(StandardCharsets.ISO_8859_1);
        int read = 0;
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = mutate(good, random);
            try {
                Calibration calibration = Calibration.parse(new String(bytes, StandardCharsets.ISO_8859_1));
                assertThat(calibration.tmaxTicks())
                        .isPositive()
                        .isGreaterThanOrEqualTo(calibration.floorTicks())
                        .isGreaterThanOrEqualTo(calibration.failingWaitTicks())
                        .isGreaterThanOrEqualTo(calibration.latencyTicks());
                read++;
            } catch (IOException e) {
                refused++;
            }
        }
        assertThat(read).as("mutations that do no harm").isGreaterThan(1000);
        assertThat(refused).as("mutations that do").isGreaterThan(1000);
    }

    private static byte[] mutate(byte[] good, SplittableRandom random) {
        byte[] bytes = good.clone();
        int changes = 1 + random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        return random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
    }

    private void assertRefused(String why) {
        assertThatThrownBy(() -> Calibration.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
    }
}
