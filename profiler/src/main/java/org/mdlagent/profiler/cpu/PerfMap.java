package org.mdlagent.profiler.cpu;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What a process says of code that it has made at run time: `/tmp/perf-PID.map`, lines of an address and a
/// length, both
/// hexadecimal, and a name (Linux, tools/perf/Documentation/jit-interface.txt). What is written later holds.
///
/// Lines that are none are passed over.
final class PerfMap {
    private static final int BYTES_MAX = 64 << 20;
    private static final int NAME_MAX = 512;

    private final TreeMap<Long, Code> codes = new TreeMap<>();

    /// @param end behind the last byte
    private record Code(long end, String name) {}

    /// The most of a file that is read.
    static int bytesMax() {
        return BYTES_MAX;
    }

    /// What the file says, instead of what it said before.
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
            return; // no line of such a file
        }
    }

    private static long hexadecimal(String text) {
        return Long.parseLong(text.startsWith("0x") ? text.substring(2) : text, 16);
    }

    /// Code that was in the same place is gone.
    private void put(long start, Code code) {
        Map.Entry<Long, Code> before = codes.lowerEntry(start);
        if (before != null && before.getValue().end > start) {
            codes.put(before.getKey(), new Code(start, before.getValue().name));
        }
        codes.subMap(start, code.end).clear();
        codes.put(start, code);
    }

    /// The name of what is at an address, null where nothing is known.
    @Nullable
    String at(long address) {
        Map.Entry<Long, Code> found = codes.floorEntry(address);
        return found != null && address < found.getValue().end ? found.getValue().name : null;
    }
}
