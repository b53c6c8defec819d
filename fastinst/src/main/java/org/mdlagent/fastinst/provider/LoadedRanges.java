package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.Arrays;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.LoadedImage;

/// The functions of an image at its load address, from unwind tables and, where these have gaps, from
/// symbols.
final class LoadedRanges implements CodeRanges {
    private long[] starts;
    private int[] lengths;
    private int size;

    /// The last result of [#find]: the next query is mostly for the same function or the next one.
    private int lastFound;

    LoadedRanges(LoadedImage image, ElfFile elf) throws IOException {
        EhFrame frames = elf.ehFrame();
        SymbolTable symbols = elf.symbols();
        long bias = image.bias();
        int frameCount = frames == null ? 0 : frames.size();
        starts = new long[Math.max(frameCount, symbols.size())];
        lengths = new int[starts.length];
        int symbol = 0;
        long end = 0;
        for (int i = 0; i <= frameCount; i++) {
            long start = frames == null || i == frameCount ? Long.MAX_VALUE : frames.start(i);
            for (; symbol < symbols.size() && symbols.start(symbol) < start; symbol++) {
                long symbolStart = symbols.start(symbol);
                long symbolEnd = Math.min(start, symbolStart + symbols.length(symbol));
                if (symbolStart >= end && symbolEnd > symbolStart) {
                    add(symbolStart + bias, symbolEnd - symbolStart);
                    end = symbolEnd;
                }
            }
            if (frames != null && i < frameCount && start >= end) {
                add(start + bias, frames.length(i));
                end = start + frames.length(i);
            }
        }
    }

    private void add(long start, long length) {
        if (size == starts.length) {
            starts = Arrays.copyOf(starts, size + size / 2 + 1);
            lengths = Arrays.copyOf(lengths, starts.length);
        }
        starts[size] = start;
        lengths[size++] = Math.toIntExact(length);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public long start(int index) {
        return starts[index];
    }

    @Override
    public long length(int index) {
        return lengths[index];
    }

    /// Start of the function that contains `address`, 0 if there is none.
    long functionAround(long address) {
        int found = find(address);
        return found < 0 ? 0 : starts[found];
    }

    /// The number of the function that contains `address`, -1 if there is none.
    int find(long address) {
        for (int i = lastFound; i < size && i <= lastFound + 1; i++) {
            if (isIn(address, i)) {
                lastFound = i;
                return i;
            }
        }
        int found = Arrays.binarySearch(starts, 0, size, address);
        int before = found >= 0 ? found : -found - 2;
        if (before < 0 || !isIn(address, before)) {
            return -1;
        }
        lastFound = before;
        return before;
    }

    private boolean isIn(long address, int number) {
        long into = address - starts[number];
        return into >= 0 && into < lengths[number];
    }

    /// Start of the first function at or after `address`, 0 if there is none.
    long functionFrom(long address) {
        int found = Arrays.binarySearch(starts, 0, size, address);
        int next = found >= 0 ? found : -found - 1;
        return next < size ? starts[next] : 0;
    }
}
