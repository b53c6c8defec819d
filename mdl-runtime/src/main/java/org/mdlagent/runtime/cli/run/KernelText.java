package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Texts in which the kernel states limits and usage: files of `/proc` and of control groups.
final class KernelText {
    private KernelText() {}

    /// The text of a file, "" if it cannot be read.
    static String of(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }

    /// The first word after the name in its line, "" if there is no such line.
    static String after(String lines, String name) {
        return lines.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+")[0])
                .findFirst()
                .orElse("");
    }

    /// A limit, or how much of it is used; `Long.MAX_VALUE` for no limit. The values for "no limit" are not numbers.
    static long limit(String text) {
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : Long.MAX_VALUE;
    }

    /// The same of a file with one number.
    static long limit(Path file) {
        return limit(of(file).strip());
    }
}
