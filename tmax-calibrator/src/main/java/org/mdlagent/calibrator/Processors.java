package org.mdlagent.calibrator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The processors that this process may use, and their distances.
///
/// @param list in ascending order of their numbers
record Processors(List<Processor> list) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path SYSTEM = Path.of("/sys/devices/system/cpu");
    private static final String ALLOWED = "Cpus_allowed_list:";

    /// @param siblings the processors of its core, including itself
    record Processor(int number, int socket, List<Integer> siblings) {}

    /// One stores, the other executes.
    record Pair(Processor writer, Processor executor) {
        Distance distance() {
            if (writer.siblings.contains(executor.number)) {
                return Distance.SIBLING;
            }
            return writer.socket == executor.socket ? Distance.SOCKET : Distance.OTHER_SOCKET;
        }
    }

    enum Distance {
        SIBLING("same core"),
        SOCKET("same socket"),
        OTHER_SOCKET("other socket");

        private final String text;

        Distance(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    static Processors ofProcess() throws IOException {
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith(ALLOWED)) {
                return of(numbers(line.substring(ALLOWED.length())), SYSTEM);
            }
        }
        throw new IOException(STATUS + " does not tell which processors may be used");
    }

    static Processors of(List<Integer> numbers, Path system) throws IOException {
        List<Processor> list = new ArrayList<>();
        for (int number : numbers) {
            Path topology = system.resolve("cpu" + number + "/topology");
            list.add(new Processor(
                    number,
                    numbers(Files.readString(topology.resolve("physical_package_id")))
                            .getFirst(),
                    numbers(Files.readString(topology.resolve("thread_siblings_list")))));
        }
        return new Processors(list);
    }

    /// A list as the kernel prints it: `0-3,8`.
    static List<Integer> numbers(String text) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : text.strip().split(",")) {
            // An unknown socket is -1.
            int dash = range.indexOf('-', 1);
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
            for (int number = first; number <= last; number++) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    long sockets() {
        return list.stream().mapToInt(Processor::socket).distinct().count();
    }

    /// Pairs of every existing distance, in both directions, spread over the machine.
    ///
    /// @param most maximum pairs of each distance
    List<Pair> pairs(int most) {
        List<Pair> pairs = new ArrayList<>();
        for (List<Pair> candidates : byDistance(list).values()) {
            int chosen = Math.min(most, candidates.size());
            for (int i = 0; i < chosen; i++) {
                pairs.add(candidates.get((int) ((long) i * (candidates.size() - 1) / Math.max(1, chosen - 1))));
            }
        }
        return pairs;
    }

    /// The processor that patches while the others execute.
    Processor patcher() {
        return list.getFirst();
    }

    /// Up to `count` others, from every distance in turn.
    List<Integer> executors(int count) {
        List<Integer> executors = new ArrayList<>();
        List<List<Pair>> distances = List.copyOf(byDistance(List.of(patcher())).values());
        for (int i = 0; i < list.size(); i++) {
            for (List<Pair> distance : distances) {
                if (i < distance.size() && executors.size() < count) {
                    executors.add(distance.get(i).executor.number);
                }
            }
        }
        return executors;
    }

    private Map<Distance, List<Pair>> byDistance(List<Processor> writers) {
        Map<Distance, List<Pair>> pairs = new EnumMap<>(Distance.class);
        for (Processor writer : writers) {
            for (Processor executor : list) {
                if (writer.number != executor.number) {
                    Pair pair = new Pair(writer, executor);
                    pairs.computeIfAbsent(pair.distance(), distance -> new ArrayList<>())
                            .add(pair);
                }
            }
        }
        return pairs;
    }
}
