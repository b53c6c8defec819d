package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.KeptFiles;

/// Facts about images, kept from start to start in files of the user (`image_cache.h`). A file's name tells the build
/// id and the content, so facts are never those of another file. Nothing is kept of files without a build id.
public final class KeptFacts {
    private final KeptFiles files;
    private final List<Kept> used = new ArrayList<>();

    /// Not a method reference: that would link method handles, which costs milliseconds at each start.
    final ImageFacts.Source source = new ImageFacts.Source() {
        @Override
        public @Nullable ImageFacts of(ElfFile elf, int pieces) throws IOException {
            return facts(elf, pieces);
        }
    };

    private record Kept(String name, ImageFacts facts) {}

    public KeptFacts(KeptFiles files) {
        this.files = files;
    }

    private @Nullable ImageFacts facts(ElfFile elf, int pieces) throws IOException {
        String id = pieces > 0 ? elf.buildId() : null;
        if (id == null) {
            return null;
        }
        long checksum = elf.checksum();
        String name = id + HexFormat.of().toHexDigits(checksum);
        byte[] bytes = files.readKept(name);
        ImageFacts read = bytes == null ? null : ImageFacts.read(bytes, checksum, pieces);
        ImageFacts facts = read == null ? new ImageFacts(checksum, pieces) : read;
        used.add(new Kept(name, facts));
        return facts;
    }

    /// Writes what was found since, and forgets it.
    ///
    /// @return 0, or `-errno` of a file that could not be written
    public long write() {
        long error = 0;
        for (Kept kept : used) {
            if (kept.facts.haveGrown()) {
                error = Math.min(error, files.writeKept(kept.name, kept.facts.bytes()));
            }
        }
        used.clear();
        return error;
    }
}
