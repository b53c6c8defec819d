package org.mdlagent.stress.torture;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;
import java.util.stream.Collectors;

/// The result of a cell or twin. Sent between processes as a line of names and values separated by tabs.
final class CellResult {
    private final String name;
    private final Map<String, Long> numbers = new TreeMap<>();
    private String detail = "";

    private static final String SPLIT = "split ";

    CellResult(String name) {
        this.name = name;
    }

    static CellResult parse(String line) {
        String[] fields = line.split("\t", -1);
        CellResult result = new CellResult(fields[0]);
        result.detail = fields[1];
        for (int i = 2; i < fields.length; i++) {
            int equals = fields[i].lastIndexOf('=');
            result.numbers.put(fields[i].substring(0, equals), Long.valueOf(fields[i].substring(equals + 1)));
        }
        return result;
    }

    String line() {
        return name + "\t" + detail
                + numbers.entrySet().stream()
                        .map(entry -> "\t" + entry.getKey() + "=" + entry.getValue())
                        .collect(Collectors.joining());
    }

    String name() {
        return name;
    }

    /// The first failure, or "".
    String detail() {
        return detail;
    }

    void tell(String what) {
        if (detail.isEmpty()) {
            detail = what.replace('\t', ' ').replace('\n', ' ');
        }
    }

    void add(String key, long value) {
        numbers.merge(key, value, Long::sum);
    }

    long get(String key) {
        return numbers.getOrDefault(key, 0L);
    }

    void addToggles(String split, long toggles) {
        add(SPLIT + split, toggles);
        add("toggles", toggles);
    }

    void numbers(ObjLongConsumer<String> consumer) {
        numbers.forEach(consumer::accept);
    }

    /// Toggles by the split of the word over the boundary of an atomic unit.
    Map<String, Long> togglesBySplit() {
        Map<String, Long> splits = new TreeMap<>();
        numbers.forEach((key, value) -> {
            if (key.startsWith(SPLIT)) {
                splits.put(key.substring(SPLIT.length()), value);
            }
        });
        return splits;
    }

    /// Failures without their own counter.
    void fail(String what) {
        add("failed", 1);
        tell(what);
    }

    boolean isGood() {
        return !isBroken() && get("failed") == 0;
    }

    /// Whether an executor executed a wrong instruction or was stalled.
    boolean isBroken() {
        return get("wrong") > 0 || get("stalled") > 0;
    }
}
