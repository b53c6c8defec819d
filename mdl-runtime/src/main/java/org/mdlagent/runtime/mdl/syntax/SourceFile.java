package org.mdlagent.runtime.mdl.syntax;

import java.util.Arrays;
import java.util.stream.IntStream;

/// An MDL file. Positions are offsets in characters, from 0 to the text's length.
public final class SourceFile {
    private final String name;
    private final String text;
    private final int[] lineStarts;

    /// @param name shown in messages
    public SourceFile(String name, String text) {
        this.name = name;
        this.text = text;
        this.lineStarts = IntStream.concat(
                        IntStream.of(0),
                        IntStream.range(0, text.length())
                                .filter(i -> text.charAt(i) == '\n')
                                .map(i -> i + 1))
                .toArray();
    }

    public String name() {
        return name;
    }

    public String text() {
        return text;
    }

    /// Line of an offset, from 1.
    public int line(int offset) {
        int found = Arrays.binarySearch(lineStarts, offset);
        return found >= 0 ? found + 1 : -found - 1;
    }

    /// Column of an offset, from 1. A tab is one column.
    public int column(int offset) {
        return offset - lineStarts[line(offset) - 1] + 1;
    }

    /// The text of an offset's line, without its end.
    public String lineText(int offset) {
        int line = line(offset);
        int end = line == lineStarts.length ? text.length() : lineStarts[line] - 1;
        String content = text.substring(lineStarts[line - 1], end);
        return content.endsWith("\r") ? content.substring(0, content.length() - 1) : content;
    }
}
