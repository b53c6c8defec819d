package org.mdlagent.arch.layout;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The structures that C and Java share, as the C compiler lays them out (`native-shim/test/layout_dump.c`).
///
/// @param offsets of each structure's fields, without padding
/// @param sizes   of the structures
public record LayoutDump(Map<String, Map<String, Long>> offsets, Map<String, Long> sizes) {
    private static final Path SHIM = Path.of("../native-shim").toAbsolutePath().normalize();
    private static final Pattern FIELD = Pattern.compile("(mdl_\\w+)\\.(\\w+) (\\d+)");
    private static final Pattern SIZE = Pattern.compile("struct (mdl_\\w+) size (\\d+)");

    private static final Pattern DECLARED_STRUCT = Pattern.compile("(?ms)^struct (mdl_\\w+) \\{$(.*?)^};");
    private static final Pattern DECLARED_FIELD = Pattern.compile("(?m)^  (?:struct )?\\w+ (\\w+)(?:\\[\\w*])?;");
    private static final Pattern PADDING = Pattern.compile("(pad|reserved)\\d*");

    /// Runs the program that prints them, which the build of `native-shim` makes.
    public static LayoutDump read() throws IOException, InterruptedException {
        Path program = SHIM.resolve("target/cmake/mdl_layout_dump");
        if (!Files.isExecutable(program)) {
            throw new IOException(program + " is missing: mvn -pl native-shim test-compile");
        }
        Process process = new ProcessBuilder(program.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(program + " ended with " + process.exitValue());
        }
        Map<String, Map<String, Long>> offsets = new TreeMap<>();
        Map<String, Long> sizes = new TreeMap<>();
        for (String line : output.lines().toList()) {
            Matcher field = FIELD.matcher(line);
            Matcher size = SIZE.matcher(line);
            if (field.matches()) {
                offsets.computeIfAbsent(field.group(1), struct -> new TreeMap<>())
                        .put(field.group(2), Long.valueOf(field.group(3)));
            } else if (size.matches()) {
                sizes.put(size.group(1), Long.valueOf(size.group(2)));
            } else {
                throw new IOException(program + " printed: " + line);
            }
        }
        return new LayoutDump(offsets, sizes);
    }

    /// The fields of each structure that the headers declare, without padding.
    static Map<String, Set<String>> declared() throws IOException {
        Map<String, Set<String>> declared = new TreeMap<>();
        for (String header : new String[] {"layout.h", "api.h"}) {
            Matcher struct = DECLARED_STRUCT.matcher(Files.readString(SHIM.resolve("include/mdl/" + header)));
            while (struct.find()) {
                Set<String> fields = new TreeSet<>();
                DECLARED_FIELD.matcher(struct.group(2)).results().forEach(field -> fields.add(field.group(1)));
                fields.removeIf(PADDING.asMatchPredicate());
                declared.put(struct.group(1), fields);
            }
        }
        return declared;
    }

    /// The constants that Java should have for a structure: its fields in upper case, and `SIZE`.
    ///
    /// @param renamed fields whose name another constant has; these have the suffix `_AT`
    public Map<String, Long> constants(String struct, Set<String> renamed) {
        Map<String, Long> constants = new TreeMap<>();
        offsets.get(struct).forEach((field, offset) -> {
            String name = field.toUpperCase(Locale.ROOT);
            constants.put(renamed.contains(field) ? name + "_AT" : name, offset);
        });
        constants.put("SIZE", sizes.get(struct));
        return constants;
    }

    /// The constants of type `long` that a class has for others to use.
    public static Map<String, Long> constantsOf(Class<?> descriptor) throws IllegalAccessException {
        Map<String, Long> constants = new TreeMap<>();
        for (Field field : descriptor.getDeclaredFields()) {
            int modifiers = field.getModifiers();
            if (field.getType() == long.class && Modifier.isStatic(modifiers) && !Modifier.isPrivate(modifiers)) {
                field.setAccessible(true);
                constants.put(field.getName(), field.getLong(null));
            }
        }
        return constants;
    }
}
