package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;

/// A section in memory, relocated by the dynamic linker. Not all sections are aligned.
///
/// @param address of its first byte
/// @param bytes   its contents
record LoadedSection(long address, ByteBuffer bytes) {
    /// Null when the image has no such section in memory.
    static @Nullable LoadedSection of(String name, LoadedImage image, ElfFile elf) throws IOException {
        Section section = elf.section(name);
        if (section == null || section.size() == 0 || !isLoaded(section, elf)) {
            return null;
        }
        long address = image.bias() + section.address();
        byte[] bytes = Memory.copy(address, Math.toIntExact(section.size()));
        return new LoadedSection(address, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    }

    private static boolean isLoaded(Section section, ElfFile elf) {
        long last = section.address() + section.size() - 1;
        return elf.segments().stream()
                .anyMatch(segment -> segment.loaded() && segment.contains(section.address()) && segment.contains(last));
    }

    /// The addresses that fill the section.
    static long[] addresses(String name, LoadedImage image, ElfFile elf) throws IOException {
        LoadedSection section = of(name, image, elf);
        if (section == null) {
            return new long[0];
        }
        long[] addresses = new long[section.bytes.remaining() / Long.BYTES];
        section.bytes.asLongBuffer().get(addresses);
        return addresses;
    }
}
