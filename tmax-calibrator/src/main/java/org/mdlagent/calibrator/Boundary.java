package org.mdlagent.calibrator;

/// What a straddling instruction lies across.
enum Boundary {
    /// Two lines that no other translation of addresses separates.
    LINE("line", 64),
    /// Two lines in two pages: the second one's address may have to be looked up meanwhile.
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
