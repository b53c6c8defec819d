package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.text.ForeignText;

class PprofReportTest {
    @TempDir
    private Path directory;

    private static byte[] report(Profile profile) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PprofReport.write(profile, ProfileOrder.TOTAL, Integer.MAX_VALUE, out);
        return out.toByteArray();
    }

    private static ProtobufMessage decode(byte[] compressed) throws IOException {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
            return ProtobufMessage.of(in.readAllBytes());
        }
    }

    @Test
    void shouldWriteASampleALocationAndAFunctionForEachCalledFunction() throws IOException {
        ProtobufMessage profile = decode(report(Profiles.read(SessionImage.exactSample(), directory)));

        List<String> strings = profile.strings(6);
        assertThat(strings.getFirst()).isEmpty();
        assertThat(profile.messages(1))
                .extracting(type -> strings.get((int) type.integer(1)) + "/" + strings.get((int) type.integer(2)))
                .containsExactly("calls/count", "total/nanoseconds", "self/nanoseconds");
        assertThat(profile.messages(2))
                .extracting(sample -> sample.integers(1), sample -> sample.integers(2))
                .containsExactly(
                        tuple(List.of(1L), List.of(1L, 1_500_000_000L, 1_498_999_100L)),
                        tuple(List.of(2L), List.of(4L, 1_000_900L, 1_000_900L)));
        ProtobufMessage location = profile.messages(4).get(1);
        assertThat(location.integer(1)).isEqualTo(2);
        ProtobufMessage line = location.messages(4).getFirst();
        assertThat(line.integer(1)).isEqualTo(2);
        assertThat(line.integer(2)).isEqualTo(42);
        ProtobufMessage function = profile.messages(5).get(1);
        assertThat(List.of(2, 3, 4))
                .extracting(number -> strings.get((int) function.integer(number)))
                .containsExactly("ns::parse(char const*)", "_ZN2ns5parseEPKc", "/src/parse.cpp");
        ProtobufMessage mapping = profile.messages(3).get((int) location.integer(2) - 1);
        assertThat(mapping.integer(1)).isEqualTo(location.integer(2));
        assertThat(strings.get((int) mapping.integer(5))).isEqualTo("/opt/app/lib/p.so");
        assertThat(profile.integer(9)).isEqualTo(1_700_000_000_000_000_000L);
        assertThat(profile.integer(10)).isEqualTo(2_000_000_000L);
        assertThat(strings.get((int) profile.integer(14))).isEqualTo("self");
    }

    @Test
    void shouldNotOfferSelfTimeThatIsNotKnown() throws IOException {
        Profile sampled = Profiles.read(SessionImage.sampledSample(), directory);
        ProtobufMessage profile = decode(report(Profiles.with(sampled, List.of(Profiles.function("f", 100)))));

        assertThat(profile.messages(1)).hasSize(2);
        assertThat(profile.messages(2))
                .allSatisfy(sample -> assertThat(sample.integers(2)).hasSize(2));
        assertThat(profile.strings(6).get((int) profile.integer(14))).isEqualTo("total");
    }

    @Test
    void shouldWriteASampleForEachCallPath() throws IOException {
        ProtobufMessage profile = decode(report(Profiles.read(SessionImage.pathsSample(), directory)));

        List<String> strings = profile.strings(6);
        Map<Long, String> names = new TreeMap<>();
        profile.messages(5).forEach(function -> names.put(function.integer(1), strings.get((int) function.integer(2))));
        assertThat(profile.messages(2))
                .extracting(
                        sample -> sample.integers(1).stream().map(names::get).toList(), sample -> sample.integers(2))
                .contains(
                        tuple(List.of("work"), List.of(10L, 10_000L, 0L, 0L)),
                        tuple(List.of("leaf", "work", "main"), List.of(0L, 0L, 0L, 1_200L)),
                        tuple(List.of("work"), List.of(0L, 0L, 0L, 1_500L)));
        assertThat(strings.get((int) profile.integer(14))).isEqualTo("cpu");
    }

    @Test
    void shouldKeepAnyName() throws IOException {
        SessionImage image = new SessionImage().exact();
        int function = image.function(Profiles.HOSTILE);
        image.exactRow(image.thread(101), function, 100, 100);

        assertThat(decode(report(Profiles.read(image, directory))).strings(6))
                .contains(ForeignText.printable(Profiles.HOSTILE));
    }

    @Test
    void shouldBeReadByPprof() throws Exception {
        Tool go = Tool.installed("go", "golang-go");
        Path file = directory.resolve("profile.pb.gz");
        Files.write(file, report(Profiles.read(SessionImage.exactSample(), directory)));

        String self = go.run(file, "tool", "pprof", "-top", "-nodefraction=0", "-unit=ns", file.toString());
        String calls = go.run(file, "tool", "pprof", "-top", "-nodefraction=0", "-sample_index=calls", file.toString());

        assertThat(self)
                .contains("Type: self", "Duration: 2s")
                .containsPattern("1498999100ns .* main\n")
                .containsPattern("1000900ns .* ns::parse\\(char const\\*\\)\n");
        assertThat(calls).contains("Type: calls").containsPattern(" 4 .* ns::parse\\(char const\\*\\)\n");
    }
}
