package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.provider.ImageProbes;

/// Where functions are defined in source files, from line tables.
public final class SourceLines {
    private final NativeApi api;
    private final FunctionTable functions;
    private final List<String> notes;
    private final BlockTable blocks;
    private int resolved;

    /// @param notes receives what was found but left alone, for the log
    public SourceLines(NativeApi api, FunctionTable functions, BlockTable blocks, List<String> notes) {
        this.api = api;
        this.functions = functions;
        this.notes = notes;
        this.blocks = blocks;
    }

    /// Number of images whose lines have been found.
    public int resolved() {
        return resolved;
    }

    /// Source files of an image's functions, by the offset of their addresses.
    Map<Long, String> files(ImageProbes image) throws IOException {
        DwarfLines lines = image.elf().lines(api::renewClocks);
        if (lines == null) {
            notes.add(image.image().path() + ": no line tables, so patterns with a source file match nothing in it");
            return Map.of();
        }
        long bias = image.image().bias();
        long[] addresses = image.texts().stream()
                .flatMap(text -> text.sites().stream())
                .mapToLong(site -> site.hook().function() - bias)
                .filter(address -> address != -bias)
                .sorted()
                .distinct()
                .toArray();
        @Nullable SourceLine[] found = lines.at(addresses);
        Map<Long, String> files = new HashMap<>();
        for (int i = 0; i < addresses.length; i++) {
            if (found[i] != null) {
                files.put(addresses[i], found[i].file());
            }
        }
        return files;
    }

    /// Finds the source lines of new functions and writes them to their records. That may exceed the
    /// watchdog's timeout, so it sends heartbeats.
    ///
    /// @param meanwhile run periodically
    /// @throws IOException when a line table is damaged; functions of other images have their lines
    public void resolve(List<ProbedImage> images, Runnable meanwhile) throws IOException {
        for (ProbedImage image : images) {
            ElfFile file = image.lineTables();
            if (file != null) {
                image.lineTables(null);
                try (file) {
                    DwarfLines lines = file.lines(() -> {
                        api.renewClocks();
                        meanwhile.run();
                    });
                    if (lines != null) {
                        resolve(image, lines);
                        resolved++;
                    }
                }
            }
        }
    }

    private void resolve(ProbedImage image, DwarfLines lines) throws IOException {
        List<Integer> own =
                new ArrayList<>(IntStream.of(image.probedFunctions()).boxed().toList());
        own.sort((a, b) -> Long.compare(functions.function(a).offset, functions.function(b).offset));
        @Nullable
        SourceLine[] found = lines.at(own.stream()
                .mapToLong(index -> functions.function(index).offset)
                .toArray());
        for (int i = 0; i < found.length; i++) {
            SourceLine line = found[i];
            if (line != null) {
                functions.setSource(own.get(i), line.file(), line.line());
            }
        }
        blocks.resolve(image.probedFunctions(), lines);
    }
}
