package org.mdlagent.profiler.report.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;

/// Profiles for the tests of reports.
public final class Profiles {
    /// What a name can hold that means something in some format.
    public static final String HOSTILE = "operator,\"\\n\n\r{le=\"1\"}</script><!--<b>&amp; 'ä😀\u2028\u202e%s";

    private Profiles() {}

    public static Profile read(SessionImage image, Path directory) throws IOException {
        image.write(Files.createDirectories(directory));
        try (SessionReader reader = SessionReader.open(directory)) {
            return reader.profile();
        }
    }

    /// The facts of one profile with other functions.
    public static Profile with(Profile profile, List<FunctionProfile> functions) {
        return new Profile(
                profile.session(),
                functions,
                profile.unmatched(),
                profile.losses(),
                profile.family(),
                profile.probeNanos(),
                profile.metrics(),
                List.of());
    }

    /// A function of which every call was timed.
    public static FunctionProfile function(String name, long... nanos) {
        LatencyBuilder latency = new LatencyBuilder();
        LongStream.of(nanos).forEach(latency::add);
        return new FunctionProfile(
                new FunctionProfile.Code(name, name, "/src/a.c", 1, "/opt/app"),
                new FunctionProfile.Calls(nanos.length, true, OptionalDouble.empty()),
                new FunctionProfile.Timed(false, nanos.length, latency.build(1)),
                FunctionProfile.Times.of(
                        nanos.length == 0
                                ? OptionalLong.empty()
                                : OptionalLong.of(LongStream.of(nanos).sum()),
                        OptionalLong.empty()),
                true);
    }

    /// So many functions `function_0`, ...; the n-th is called n % 7 times.
    public static List<FunctionProfile> functions(int count) {
        SplittableRandom random = new SplittableRandom(count);
        return IntStream.range(0, count)
                .mapToObj(n -> function(
                        "function_" + n, random.longs(n % 7, 20, 1_000_000).toArray()))
                .toList();
    }
}
