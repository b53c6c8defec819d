package org.mdlagent.arch.elf;

import org.jspecify.annotations.Nullable;

/// A section that is read in parts, because it may be larger than the heap.
final class SectionParts {
    private final ElfFile file;
    private final Section section;

    /// The whole of a compressed section, which has no random access.
    private final @Nullable Cursor expanded;

    private final long size;

    SectionParts(ElfFile file, Section section) throws ElfFormatException {
        this.file = file;
        this.section = section;
        this.expanded = section.compressed() ? file.contents(section) : null;
        this.size = expanded == null ? section.size() : expanded.limit();
    }

    long size() {
        return size;
    }

    /// The bytes from an offset on.
    Cursor part(long at, long length) throws ElfFormatException {
        if (expanded != null) {
            return expanded.between(at, at + length);
        }
        if (at < 0 || length < 0 || at > size - length) {
            throw file.bad(section.name() + " of " + size + " bytes", section.offset() + at);
        }
        return file.range(section.offset() + at, length, section.name());
    }
}
