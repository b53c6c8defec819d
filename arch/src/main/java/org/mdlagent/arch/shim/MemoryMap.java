package org.mdlagent.arch.shim;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A snapshot of a process's mappings: proc_pid_maps(5).
///
/// @param regions in ascending order of address, those of user space
public record MemoryMap(List<Region> regions) {
    private static final Path MAPS = Path.of("/proc/self/maps");

    /// @param start  first address
    /// @param end    after the last
    /// @param writable by this process
    /// @param offset of the first byte in the file
    /// @param path   of the file; empty if there is none
    public record Region(long start, long end, boolean writable, long offset, String path) {}

    /// Whether /proc is mounted.
    public static boolean isThere() {
        return Files.isReadable(MAPS);
    }

    /// The mappings of another process.
    ///
    /// @throws IOException if it has ended, or may not be read
    public static MemoryMap read(int pid) throws IOException {
        return of(Files.readAllBytes(Path.of("/proc", Integer.toString(pid), "maps")));
    }

    /// @throws IOException if /proc is not mounted
    public static MemoryMap read() throws IOException {
        return of(Files.readAllBytes(MAPS));
    }

    /// Parses such a file. A program with many libraries has thousands of lines, and a thread that opens a library
    /// waits for this. So lines are parsed in place, and adjacent regions of a file share its path.
    static MemoryMap of(byte[] text) {
        List<Region> regions = new ArrayList<>();
        Line line = new Line(text);
        while (line.next()) {
            long start = line.hexadecimal();
            if (start < 0) {
                break; // vsyscall
            }
            long end = line.hexadecimal();
            boolean writable = line.isWritable();
            regions.add(new Region(start, end, writable, line.hexadecimal(), line.path()));
        }
        return new MemoryMap(List.copyOf(regions));
    }

    /// A line, field by field.
    private static final class Line {
        private final byte[] text;
        private int at;
        private int end = -1;
        private String lastPath = "";
        private int lastPathStart;
        private int lastPathEnd;

        Line(byte[] text) {
            this.text = text;
        }

        /// Moves to the next line.
        boolean next() {
            at = end + 1;
            end = at;
            while (end < text.length && text[end] != '\n') {
                end++;
            }
            return at < end;
        }

        /// Reads a number and its terminator.
        long hexadecimal() {
            long value = 0;
            for (; at < end; at++) {
                int digit = Character.digit(text[at], 16);
                if (digit < 0) {
                    break;
                }
                value = value << 4 | digit;
            }
            at++;
            return value;
        }

        /// Reads `rwxp` and the following blank.
        boolean isWritable() {
            boolean writable = at + 1 < end && text[at + 1] == 'w';
            while (at < end && text[at] != ' ') {
                at++;
            }
            at++;
            return writable;
        }

        /// Reads from the first slash on.
        String path() {
            while (at < end && text[at] != '/') {
                at++;
            }
            if (at >= end) {
                return "";
            }
            if (!Arrays.equals(text, at, end, text, lastPathStart, lastPathEnd)) {
                lastPath = new String(text, at, end - at, StandardCharsets.UTF_8);
                lastPathStart = at;
                lastPathEnd = end;
            }
            return lastPath;
        }
    }

    /// The region that contains `address`, or null.
    public @Nullable Region at(long address) {
        int low = 0;
        int high = regions.size();
        while (low < high) {
            int middle = low + high >>> 1;
            if (regions.get(middle).start() <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low > 0 && address < regions.get(low - 1).end() ? regions.get(low - 1) : null;
    }
}
