package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Which functions were called, by image and source file.
///
/// A function is called if its own code was entered at its beginning. Code of it that was inlined in other functions
/// does not count.
///
/// @param images in the order of their paths
public record Coverage(List<OfImage> images) {
    /// @param image     path of the ELF file
    /// @param sum       of all its functions
    /// @param files     in the order of their paths
    /// @param notProbed functions that nothing is known of; null if the session does not tell
    public record OfImage(
            String image,
            Sum sum,
            List<OfFile> files,
            @Nullable NotProbed notProbed) {}

    /// @param file path of the source file, null for functions without a known source
    public record OfFile(@Nullable String file, Sum sum) {}

    /// @param probed functions with probes
    /// @param called those of them that were called
    public record Sum(int probed, int called) {
        /// In percent of the functions with probes.
        public double percent() {
            return probed == 0 ? 0 : 100.0 * called / probed;
        }

        Sum plus(Sum other) {
            return new Sum(probed + other.probed, called + other.called);
        }
    }

    public Coverage {
        images = List.copyOf(images);
    }

    /// @param notProbed of any images
    public static Coverage of(Profile profile, List<NotProbed> notProbed) {
        Map<String, Map<String, Sum>> images = new TreeMap<>();
        for (FunctionProfile function : profile.functions()) {
            String file = function.file() == null ? "" : function.file();
            images.computeIfAbsent(function.image(), image -> new TreeMap<>())
                    .merge(file, new Sum(1, function.calls() > 0 ? 1 : 0), Sum::plus);
        }
        List<OfImage> found = new ArrayList<>();
        images.forEach((image, files) -> found.add(new OfImage(
                image,
                sum(files),
                files.entrySet().stream()
                        .map(entry -> new OfFile(entry.getKey().isEmpty() ? null : entry.getKey(), entry.getValue()))
                        .toList(),
                notProbed.stream()
                        .filter(of -> of.image().equals(image))
                        .findFirst()
                        .orElse(null))));
        return new Coverage(found);
    }

    private static Sum sum(Map<String, Sum> sums) {
        return sums.values().stream().reduce(new Sum(0, 0), Sum::plus);
    }

    /// Of all images.
    public Sum sum() {
        return images.stream().map(OfImage::sum).reduce(new Sum(0, 0), Sum::plus);
    }
}
