package org.mdlagent.arch.elf;

import java.io.IOException;

/// A file is not a valid ELF file, or uses an unsupported feature.
///
/// The only exception that bad bytes can cause in this package.
public final class ElfFormatException extends IOException {
    private static final long serialVersionUID = 1;

    private final String file;
    private final String expected;
    private final long offset;

    ElfFormatException(String file, String expected, long offset) {
        super(file + ": expected " + expected + " at offset 0x" + Long.toHexString(offset));
        this.file = file;
        this.expected = expected;
        this.offset = offset;
    }

    /// The file's name.
    public String file() {
        return file;
    }

    /// The expected content.
    public String expected() {
        return expected;
    }

    /// Its position: bytes from the file's start, or, in a compressed section, from the start of its decompressed
    /// contents.
    public long offset() {
        return offset;
    }
}
