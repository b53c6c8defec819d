package org.mdlagent.profiler.report.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.codec.RecordFormatException;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.statistics.ComparisonTest;

class RecordsTest {
    @TempDir
    private Path directory;

    @Test
    void shouldReadBackAFunction() throws IOException {
        for (SessionImage image : new SessionImage[] {SessionImage.exactSample(), SessionImage.sampledSample()}) {
            for (FunctionProfile function : Profiles.read(image, directory).functions()) {
                FunctionProfile back = FunctionCodec.read(FunctionCodec.bytes(function));

                assertThat(back)
                        .usingRecursiveComparison()
                        .ignoringFields("on", "times.totalError", "times.selfError")
                        .isEqualTo(function);
            }
        }
    }

    @Test
    void shouldReadBackARun() throws IOException {
        Run run = ComparisonTest.run("app-1-20231114T221320");

        assertThat(RunCodec.read(RunCodec.bytes(run))).isEqualTo(run);
    }

    @Test
    void shouldRefuseWhatItHasNotWritten() {
        byte[] record = FunctionCodec.bytes(Profiles.function("f", 10, 20, 30));

        assertThatThrownBy(() -> FunctionCodec.read(Arrays.copyOf(record, record.length - 1)))
                .isInstanceOf(RecordFormatException.class);
        assertThatThrownBy(() -> FunctionCodec.read(Arrays.copyOf(record, record.length + 1)))
                .isInstanceOf(RecordFormatException.class)
                .hasMessageContaining("too many");
        record[0] = 9;
        assertThatThrownBy(() -> FunctionCodec.read(record))
                .isInstanceOf(RecordFormatException.class)
                .hasMessageContaining("version 9");
    }

    @Test
    void shouldReadOrRefuseAnyBytes() {
        SplittableRandom random = new SplittableRandom(4);
        byte[] function = FunctionCodec.bytes(
                Profiles.function("f", random.longs(100, 1, 1_000_000).toArray()));
        byte[] run = RunCodec.bytes(ComparisonTest.run("app-1-20231114T221320"));
        int refused = 0;
        int rounds = 50_000;
        for (int round = 0; round < rounds; round++) {
            byte[] damaged = (round % 2 == 0 ? function : run).clone();
            for (int i = random.nextInt(1, 4); i > 0; i--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                if (round % 2 == 0) {
                    FunctionCodec.read(damaged).latency().percentileNanos(50);
                } else {
                    RunCodec.read(damaged);
                }
            } catch (RecordFormatException e) {
                refused++;
            } catch (IOException e) {
                throw new AssertionError("round " + round, e);
            }
        }
        assertThat(refused).isBetween(rounds / 20, rounds - rounds / 20);
    }
}
