package org.mdlagent.stress;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The layers of a package in its `package-info`: a table, highest row first, whose packages depend only on those
/// of lower rows. A name denotes the package and its subpackages, except those with their own rows; the root
/// package's name denotes its classes. Packages not in the table depend on nothing in it.
///
/// @param root of the drawing
/// @param rows by package, from 0 at the top
record LayerDrawing(String root, Map<String, Integer> rows) {
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern ROW = Pattern.compile("(?m)^/// \\| (`[^|]+`) \\|");
    private static final Pattern NAME = Pattern.compile("`([\\w.]+)`");

    /// The tables of all modules below a directory.
    static List<LayerDrawing> all(Path project) throws IOException {
        List<LayerDrawing> drawings = new ArrayList<>();
        try (Stream<Path> files =
                Files.find(project, 20, (file, attributes) -> isPackageInfo(project.relativize(file)))) {
            for (Path file : files.sorted().toList()) {
                LayerDrawing drawing = of(Files.readString(file));
                if (!drawing.rows.isEmpty()) {
                    drawings.add(drawing);
                }
            }
        }
        return drawings;
    }

    private static boolean isPackageInfo(Path file) {
        return file.endsWith("package-info.java") && file.toString().contains("src/main/java");
    }

    static LayerDrawing of(String source) {
        Matcher declaration = PACKAGE.matcher(source);
        if (!declaration.find()) {
            throw new IllegalArgumentException("no package is declared");
        }
        String root = declaration.group(1);
        String own = root.substring(root.lastIndexOf('.') + 1);
        Map<String, Integer> rows = new LinkedHashMap<>();
        Matcher row = ROW.matcher(source);
        for (int number = 0; row.find(); number++) {
            Matcher name = NAME.matcher(row.group(1));
            while (name.find()) {
                rows.put(name.group(1).equals(own) ? root : root + "." + name.group(1), number);
            }
        }
        return new LayerDrawing(root, rows);
    }

    /// The package of the table that contains a package, or null.
    private @Nullable String named(String packageName) {
        String name = packageName;
        while (name.length() > root.length()) {
            if (rows.containsKey(name)) {
                return name;
            }
            name = name.substring(0, name.lastIndexOf('.'));
        }
        return packageName.equals(root) && rows.containsKey(root) ? root : null;
    }

    /// Dependencies that do not point downwards, one line for each pair of packages.
    TreeSet<String> violations(JavaClasses classes) {
        TreeSet<String> found = new TreeSet<>();
        for (JavaClass from : classes) {
            if (isInside(from.getPackageName())) {
                for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
                    String to =
                            dependency.getTargetClass().getBaseComponentType().getPackageName();
                    if (!leadsDown(from.getPackageName(), to)) {
                        found.add(from.getPackageName() + " -> " + to + ", by " + from.getSimpleName());
                    }
                }
            }
        }
        return found;
    }

    private boolean isInside(String packageName) {
        return packageName.equals(root) || packageName.startsWith(root + ".");
    }

    private boolean leadsDown(String from, String to) {
        String upper = named(from);
        String lower = isInside(to) ? named(to) : null;
        if (lower == null || lower.equals(upper)) {
            return true;
        }
        return upper != null && rows.getOrDefault(upper, 0) < rows.getOrDefault(lower, 0);
    }

    /// Names of packages that have no class.
    List<String> unknown(JavaClasses classes) {
        return rows.keySet().stream()
                .filter(name -> classes.stream()
                        .noneMatch(type -> type.getPackageName().equals(name)
                                || type.getPackageName().startsWith(name + ".")))
                .toList();
    }
}
