package org.mdlagent.profiler.cpu;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A process's perf map, `/tmp/perf-PID.map`: code generated at run time, as lines of an address and a
/// length, both hexadecimal, and a name (Linux, tools/perf/Documentation/jit-interface.txt). Later lines
/// override earlier ones.
///
/// Malformed lines are skipped.
final class PerfMap {
    private static final int BYTES_MAX = 64 << 20;
    private static final int NAME_MAX = 512;

    private final TreeMap<Long, Code> codes = new TreeMap<>();

    /// @param end one past the last byte
    private record Code(long end, String name) {}

    /// Upper limit of bytes read from a file.
    static int bytesMax() {
        return BYTES_MAX;
    }

    /// Replaces the contents by those of the file.
    void parse(byte[] text) {
        codes.clear();
        int end = -1;
        while (end < text.length) {
            int at = end + 1;
            end = at;
            while (end < text.length && text[end] != '\n') {
                end++;
            }
            line(new String(text, at, end - at, StandardCharsets.UTF_8));
        }
    }

    private void line(String line) {
        int first = line.indexOf(' ');
        int second = first < 0 ? -1 : line.indexOf(' ', first + 1);
        if (second < 0) {
            return;
        }
        String name = line.substring(second + 1).strip();
        try {
            long start = hexadecimal(line.substring(0, first));
            long length = hexadecimal(line.substring(first + 1, second));
            if (length > 0 && start > 0 && start + length > start && !name.isEmpty()) {
                put(start, new Code(start + length, name.length() > NAME_MAX ? name.substring(0, NAME_MAX) : name));
            }
        } catch (NumberFormatException e) {
            return; // malformed
        }
    }

    private static long hexadecimal(String text) {
        return Long.parseLong(text.startsWith("0x") ? text.substring(2) : text, 16);
    }

    /// Adds code and removes older code at the same addresses.
    private void put(long start, Code code) {
        Map.Entry<Long, Code> before = codes.lowerEntry(start);
        if (before != null && before.getValue().end > start) {
            codes.put(before.getKey(), new Code(start, before.getValue().name));
        }
        codes.subMap(start, code.end).clear();
        codes.put(start, code);
    }

    /// The name of the code at an address, null if unknown.
    @Nullable
    String at(long address) {
        Map.Entry<Long, Code> found = codes.floorEntry(address);
        return found != null && address < found.getValue().end ? found.getValue().name : null;
    }
}
