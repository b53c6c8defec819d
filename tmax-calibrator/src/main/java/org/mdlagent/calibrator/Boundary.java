package org.mdlagent.calibrator;

/// The boundary that a straddling instruction crosses.
enum Boundary {
    /// Two lines of one page.
    LINE("line", 64),
    /// Two lines in two pages: the second may need an address translation.
    PAGE("page", 4096),
    /// Two quadwords of one line: one unit on Intel, two by AMD's manual.
    QUADWORD("quadword", 8);

    private final String text;
    private final int bytes;

    Boundary(String text, int bytes) {
        this.text = text;
        this.bytes = bytes;
    }

    String text() {
        return text;
    }

    int bytes() {
        return bytes;
    }
}
