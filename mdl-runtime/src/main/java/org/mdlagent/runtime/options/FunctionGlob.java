package org.mdlagent.runtime.options;

/// A pattern for functions: `function`, `image!function` or `file:function`. In each part, `*` matches any text
/// and `?` any character.
///
/// The function part is matched against the demangled name, with and without its parameters, the suffix of a GCC
/// clone, and leading namespaces and classes ([QualifiedName]): `parse` and `Parser::parse` also match
/// `ns::Parser::parse(int)`. All commands and options use this class. The image or file part is matched against
/// the whole path, or, if it has no slash, against the file name. `::` belongs to the function's name.
///
/// Uses no regular expressions or lambdas, because the agent runs it at program start.
public final class FunctionGlob {
    /// GCC's suffixes: constant propagation, replaced parameters, partial inlining, cold code.
    private static final String[] CLONE_SUFFIXES = {".constprop.", ".isra.", ".part.", ".cold"};

    private final String text;
    private final String image;
    private final String file;
    private final String function;

    private FunctionGlob(String text, String image, String file, String function) {
        this.text = text;
        this.image = image;
        this.file = file;
        this.function = function;
    }

    /// Parses a pattern.
    ///
    /// @throws IllegalArgumentException if a part is empty, with a message for the user
    public static FunctionGlob of(String text) {
        int bang = text.indexOf('!');
        if (bang > 0 && !text.startsWith("operator", bang - "operator".length())) {
            return of(text, text.substring(0, bang), "*", text.substring(bang + 1));
        }
        int colon = singleColon(text);
        if (colon >= 0) {
            return of(text, "*", text.substring(0, colon), text.substring(colon + 1));
        }
        return of(text, "*", "*", text);
    }

    private static FunctionGlob of(String text, String image, String file, String function) {
        if (image.isEmpty() || file.isEmpty() || function.isEmpty()) {
            throw new IllegalArgumentException(
                    "a function is given as FUNCTION, IMAGE!FUNCTION or FILE:FUNCTION, with * and ?");
        }
        return new FunctionGlob(text, image, file, function);
    }

    /// End of a file's name: a colon that is not half of `::`.
    private static int singleColon(String text) {
        for (int i = text.indexOf(':'); i >= 0; i = text.indexOf(':', i + 1)) {
            if (i + 1 < text.length() && text.charAt(i + 1) == ':') {
                i++;
            } else {
                return i;
            }
        }
        return -1;
    }

    /// Whether this pattern depends on the source file.
    public boolean needsFile() {
        return !file.equals("*");
    }

    /// Whether this pattern has an image part that matches this image.
    ///
    /// @param imagePath of the ELF file
    public boolean namesImage(String imagePath) {
        return !image.equals("*") && pathMatches(image, imagePath);
    }

    /// The function part.
    public String function() {
        return function;
    }

    /// Whether this is a plain function name, without a wildcard, an image or a file.
    public boolean isName() {
        return function.equals(text) && !isPattern(text);
    }

    /// Whether a text contains wildcards.
    public static boolean isPattern(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('?') >= 0;
    }

    /// Whether a function matches.
    ///
    /// @param imagePath of the ELF file
    /// @param filePath  of the source file, "" when unknown
    /// @param name      demangled
    public boolean matches(String imagePath, String filePath, String name) {
        return pathMatches(image, imagePath) && pathMatches(file, filePath) && meansName(function, name);
    }

    /// Whether the function part matches.
    public static boolean meansName(String pattern, String name) {
        if (matches(pattern, name)) {
            return true;
        }
        if (isPlain(name)) {
            return false;
        }
        String original = original(name);
        return matches(pattern, original) || QualifiedName.of(original).matches(pattern);
    }

    /// Whether a name, like C names, has no part that patterns may omit.
    private static boolean isPlain(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c < '0' && c != '$' && c != '+' || c > '9' && c < 'A' || c > 'Z' && c < 'a' && c != '_' || c > 'z') {
                return false;
            }
        }
        return true;
    }

    /// The original name of a GCC clone or split-off part, such as `f` for `f.constprop.0` or `f [clone .isra.0]`;
    /// otherwise the name itself.
    public static String original(String name) {
        int clone = name.indexOf(" [clone ");
        int end = clone > 0 ? clone : name.indexOf('.', 1);
        for (String suffix : CLONE_SUFFIXES) {
            if (end > 0 && (clone > 0 || name.startsWith(suffix, end))) {
                return name.substring(0, end);
            }
        }
        return name;
    }

    /// Whether a function is a part that GCC has split off its caller.
    public static boolean isPart(String name) {
        return !original(name).equals(name) && name.contains(".part.");
    }

    private static boolean pathMatches(String pattern, String path) {
        return matches(pattern, path)
                || pattern.indexOf('/') < 0 && matches(pattern, path.substring(path.lastIndexOf('/') + 1))
                || pattern.indexOf('/') > 0 && matches("*/".concat(pattern), path);
    }

    /// Whether a pattern of `*` and `?` matches a text. Backtracks to the last asterisk only, so the time is at
    /// most the product of the two lengths.
    public static boolean matches(String pattern, String text) {
        if (pattern.equals("*")) {
            return true;
        }
        int p = 0;
        int t = 0;
        int star = -1;
        int resume = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                resume = t;
            } else if (p < pattern.length() && (pattern.charAt(p) == '?' || pattern.charAt(p) == text.charAt(t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++resume;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    /// The pattern as written.
    @Override
    public String toString() {
        return text;
    }
}
