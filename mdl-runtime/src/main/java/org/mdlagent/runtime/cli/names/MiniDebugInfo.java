package org.mdlagent.runtime.cli.names;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.tukaani.xz.XZInputStream;

/// The symbols that distributions leave in stripped files: an ELF file with a symbol table and no code, compressed
/// by xz (GDB manual, "Debugging information in a special section").
final class MiniDebugInfo {
    private static final String SECTION = ".gnu_debugdata";

    /// The largest programs' symbols have some megabytes.
    static final int BYTES_MAX = 64 << 20;

    /// Memory limit for unpacking, in KiB: what xz's largest preset takes.
    private static final int MEMORY_MAX = 65 << 10;

    private MiniDebugInfo() {}

    /// Null if the image has none.
    ///
    /// @throws IOException when it is damaged, or too large
    static @Nullable ElfFile of(ElfFile image) throws IOException {
        byte[] packed = image.sectionBytes(SECTION);
        if (packed == null) {
            return null;
        }
        return ElfFile.of(image.name() + " (" + SECTION + ")", unpack(packed));
    }

    static byte[] unpack(byte[] packed) throws IOException {
        try (InputStream in = new XZInputStream(new ByteArrayInputStream(packed), MEMORY_MAX)) {
            byte[] unpacked = in.readNBytes(BYTES_MAX + 1);
            if (unpacked.length > BYTES_MAX) {
                throw new IOException(SECTION + " has more than " + (BYTES_MAX >> 20) + " MiB");
            }
            return unpacked;
        }
    }
}
