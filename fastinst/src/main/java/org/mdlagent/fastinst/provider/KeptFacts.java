package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.NativeApi;

/// Facts about images, kept from start to start in files of the user (`image_cache.h`). A file's name tells the build
/// id and the content, so facts are never those of another file.
///
/// The shim sets the property `mdl.facts` where its build tells which code finds the facts.
final class KeptFacts implements ImageFacts.Source {
    private static final boolean ARE_KEPT = Boolean.getBoolean("mdl.facts");

    private final NativeApi api;
    private final List<Kept> used = new ArrayList<>();

    private record Kept(String name, ImageFacts facts) {}

    KeptFacts(NativeApi api) {
        this.api = api;
    }

    @Override
    public @Nullable ImageFacts of(ElfFile elf, int pieces) throws IOException {
        String id = ARE_KEPT && pieces > 0 ? elf.buildId() : null;
        if (id == null) {
            return null;
        }
        long checksum = elf.checksum();
        String name = id + HexFormat.of().toHexDigits(checksum);
        byte[] bytes = api.readKept(name);
        ImageFacts read = bytes == null ? null : ImageFacts.read(bytes, checksum, pieces);
        ImageFacts facts = read == null ? new ImageFacts(checksum, pieces) : read;
        used.add(new Kept(name, facts));
        return facts;
    }

    /// Writes what was found since, and forgets it.
    void write() {
        for (Kept kept : used) {
            if (kept.facts.haveGrown()) {
                api.writeKept(kept.name, kept.facts.bytes());
            }
        }
        used.clear();
    }
}
