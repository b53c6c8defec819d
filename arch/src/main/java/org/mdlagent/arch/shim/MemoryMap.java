package org.mdlagent.arch.shim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What is mapped where in this process: proc_pid_maps(5), at one moment.
///
/// @param regions in ascending order of address, those of user space
public record MemoryMap(List<Region> regions) {
    private static final Path MAPS = Path.of("/proc/self/maps");

    /// @param start  first address
    /// @param end    behind the last
    /// @param writable by this process
    /// @param offset of the first byte in the file
    /// @param path   of the file; empty when there is none
    public record Region(long start, long end, boolean writable, long offset, String path) {}

    /// @throws IOException when /proc is not there
    public static MemoryMap read() throws IOException {
        List<Region> regions = new ArrayList<>();
        for (String line : Files.readAllLines(MAPS)) {
            int dash = line.indexOf('-');
            int space = line.indexOf(' ', dash);
            long start = Long.parseUnsignedLong(line, 0, dash, 16);
            if (start < 0) {
                break; // vsyscall
            }
            int offset = line.indexOf(' ', space + 1) + 1;
            int path = line.indexOf('/', offset);
            regions.add(new Region(
                    start,
                    Long.parseUnsignedLong(line, dash + 1, space, 16),
                    line.charAt(space + 2) == 'w',
                    Long.parseUnsignedLong(line, offset, line.indexOf(' ', offset), 16),
                    path < 0 ? "" : line.substring(path)));
        }
        return new MemoryMap(List.copyOf(regions));
    }

    /// The region that holds `address`, null when nothing is mapped there.
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
