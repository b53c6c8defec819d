package org.mdlagent.arch.shim;

/// Reads Rust's legacy symbols: C++ symbols with a hash and with escapes for characters that C++ does not allow.
final class OldRustName {
    /// Escapes between dollar signs, and their meaning.
    private static final String[] LEGACY = {
        "SP", "@", "BP", "*", "RF", "&", "LT", "<", "GT", ">", "LP", "(", "RP", ")", "C", ","
    };

    private static final int HASH_LENGTH = "::h0123456789abcdef".length();

    private OldRustName() {}

    /// Turns the C++ demangler's output for a legacy Rust symbol into Rust's form, without the hash. Returns other
    /// names unchanged.
    static String of(String name) {
        int hash = name.length() - HASH_LENGTH;
        if (hash <= 0 || !isHash(name, hash)) {
            return name;
        }
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < hash; i++) {
            char c = name.charAt(i);
            int end = c == '$' ? name.indexOf('$', i + 1) : -1;
            int meant = end > 0 && end < hash ? legacy(name.substring(i + 1, end)) : -1;
            if (c == '_' && name.startsWith("$", i + 1) && (i == 0 || name.charAt(i - 1) == ':')) {
                continue; // A component must not begin with a dollar sign.
            }
            if (meant >= 0) {
                result.append((char) meant);
                i = end;
            } else if (name.startsWith("..", i)) {
                result.append("::");
                i++;
            } else {
                result.append(c);
            }
        }
        return result.toString();
    }

    private static boolean isHash(String name, int at) {
        if (!name.startsWith("::h", at)) {
            return false;
        }
        for (int i = at + 3; i < name.length(); i++) {
            if (RustSymbol.hexDigit(name.charAt(i)) < 0) {
                return false;
            }
        }
        return true;
    }

    private static int legacy(String escape) {
        for (int i = 0; i < LEGACY.length; i += 2) {
            if (LEGACY[i].equals(escape)) {
                return LEGACY[i + 1].charAt(0);
            }
        }
        int value = escape.length() > 1 && escape.length() < 6 && escape.charAt(0) == 'u' ? 0 : -1;
        for (int i = 1; i < escape.length() && value >= 0; i++) {
            int digit = RustSymbol.hexDigit(escape.charAt(i));
            value = digit < 0 ? -1 : value * 16 + digit;
        }
        return value < ' ' ? -1 : value;
    }
}
