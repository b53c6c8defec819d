package org.mdlagent.arch.shim;

import static org.mdlagent.arch.shim.RustSymbol.check;

import org.jspecify.annotations.Nullable;

/// Demangles Rust's v0 symbols (RFC 2603), such as `_RNvC1a4main`. Omits crate hashes and types of constants, as
/// `rustfilt` does.
///
/// Symbols come from files and may be hostile: depth, steps and length are bounded, and a symbol that cannot be
/// parsed to its end is not a Rust name. Uses no regular expressions or lambdas, because the agent runs it at
/// program start.
final class RustName {
    private static final int DEPTH_MAX = 200;
    private static final int STEPS_MAX = 20_000;
    private static final int LENGTH_MAX = 8192;

    /// Basic types by letter; "" for other letters.
    private static final String[] BASIC = {
        "i8", "bool", "char", "f64", "str", "f32", "", "u8", "isize", "usize", "", "i32", "u32", "i128", "u128", "_",
        "", "", "i16", "u16", "()", "...", "", "i64", "u64", "!"
    };

    private final RustSymbol in;
    private final StringBuilder out = new StringBuilder();
    private int depth;
    private int steps;
    private int lifetimes;
    private boolean silent;

    private RustName(String text) {
        in = new RustSymbol(text);
    }

    /// The name of a v0 symbol, or null.
    static @Nullable String of(String symbol) {
        if (!symbol.startsWith("_R")) {
            return null;
        }
        int suffix = symbol.indexOf('.');
        String mangled = suffix < 0 ? symbol : symbol.substring(0, suffix);
        RustName name = new RustName(mangled.substring(2));
        try {
            name.path(true);
            if (!name.in.isAtEnd()) {
                name.silent = true;
                name.path(false); // The crate that instantiated a generic function.
            }
        } catch (RustSymbol.Malformed e) {
            return null;
        }
        if (!name.in.isAtEnd() && name.in.peek() != '$') {
            return null;
        }
        boolean compilers = suffix >= 0 && !symbol.startsWith(".llvm.", suffix);
        return compilers ? name.out.append(symbol, suffix, symbol.length()).toString() : name.out.toString();
    }

    private void path(boolean value) {
        enter();
        char tag = in.next();
        switch (tag) {
            case 'C' -> {
                long unused = in.disambiguator();
                print(in.identifier());
            }
            case 'M', 'X' -> {
                boolean before = silent;
                silent = true;
                long unused = in.disambiguator();
                path(false); // Skips the path of the impl; its type says more.
                silent = before;
                implementation(tag == 'X');
            }
            case 'Y' -> implementation(true);
            case 'N' -> nested(value);
            case 'I' -> {
                path(value);
                print(value ? "::<" : "<");
                for (boolean first = true; !in.eat('E'); first = false) {
                    print(first ? "" : ", ");
                    argument();
                }
                print(">");
            }
            case 'B' -> {
                int back = backReference();
                path(value);
                in.at(back);
            }
            default -> throw new RustSymbol.Malformed();
        }
        depth--;
    }

    private void implementation(boolean ofTrait) {
        print("<");
        type();
        if (ofTrait) {
            print(" as ");
            path(false);
        }
        print(">");
    }

    private void nested(boolean value) {
        char space = in.next();
        check(RustSymbol.isLetter(space));
        path(value);
        long number = in.disambiguator();
        String name = in.identifier();
        if (space >= 'a') {
            print(name.isEmpty() ? "" : "::" + name);
            return;
        }
        print("::{" + (space == 'C' ? "closure" : space == 'S' ? "shim" : String.valueOf(space)));
        print((name.isEmpty() ? "" : ":" + name) + "#" + Long.toUnsignedString(number) + "}");
    }

    private void argument() {
        if (in.eat('L')) {
            lifetime();
        } else if (in.eat('K')) {
            constant();
        } else {
            type();
        }
    }

    private void type() {
        enter();
        char tag = in.peek();
        String basic = tag >= 'a' && tag <= 'z' ? BASIC[tag - 'a'] : "";
        if (!basic.isEmpty()) {
            in.skip();
            print(basic);
        } else if ("ASTRQPOFDB".indexOf(tag) < 0) {
            path(false);
        } else {
            in.skip();
            compound(tag);
        }
        depth--;
    }

    private void compound(char tag) {
        switch (tag) {
            case 'A', 'S' -> {
                print("[");
                type();
                if (tag == 'A') {
                    print("; ");
                    constant();
                }
                print("]");
            }
            case 'T' -> {
                print("(");
                int count = types();
                print(count == 1 ? ",)" : ")");
            }
            case 'R', 'Q' -> {
                print("&");
                if (in.eat('L')) {
                    int before = in.at();
                    if (in.base62() != 0) {
                        in.at(before);
                        lifetime();
                        print(" ");
                    }
                }
                print(tag == 'Q' ? "mut " : "");
                type();
            }
            case 'P', 'O' -> {
                print(tag == 'P' ? "*const " : "*mut ");
                type();
            }
            case 'F' -> {
                int before = binder();
                function();
                lifetimes = before;
            }
            case 'D' -> {
                print("dyn ");
                int before = binder();
                for (boolean first = true; !in.eat('E'); first = false) {
                    print(first ? "" : " + ");
                    bound();
                }
                lifetimes = before;
                check(in.eat('L'));
                int lifetime = in.at();
                if (in.base62() != 0) {
                    in.at(lifetime);
                    print(" + ");
                    lifetime();
                }
            }
            default -> {
                int back = backReference();
                type();
                in.at(back);
            }
        }
    }

    /// Until an E.
    private int types() {
        int count = 0;
        for (; !in.eat('E'); count++) {
            print(count == 0 ? "" : ", ");
            type();
        }
        return count;
    }

    private void function() {
        print(in.eat('U') ? "unsafe " : "");
        if (in.eat('K')) {
            String convention = in.eat('C') ? "C" : in.identifier();
            print("extern \"" + convention.replace('_', '-') + "\" ");
        }
        print("fn(");
        int unused = types();
        print(")");
        if (!in.eat('u')) {
            print(" -> ");
            type();
        }
    }

    /// A trait of `dyn`, with its associated types.
    private void bound() {
        int start = out.length();
        path(false);
        boolean open = false;
        while (in.eat('p')) {
            if (!open && out.length() > start && out.charAt(out.length() - 1) == '>' && isGeneric(start)) {
                out.setLength(out.length() - 1);
                open = true;
            }
            print(open ? ", " : "<");
            open = true;
            print(in.identifier() + " = ");
            type();
        }
        print(open ? ">" : "");
    }

    /// Whether the output since then ends with generic arguments, and is not `<T as Trait>`.
    private boolean isGeneric(int start) {
        int open = 0;
        for (int i = out.length() - 1; i > start; i--) {
            char c = out.charAt(i);
            open += c == '>' && out.charAt(i - 1) != '-' ? 1 : c == '<' ? -1 : 0;
            if (open == 0) {
                return true;
            }
        }
        return false;
    }

    private void constant() {
        enter();
        char tag = in.next();
        switch (tag) {
            case 'p' -> print("_");
            case 'B' -> {
                int back = backReference();
                constant();
                in.at(back);
            }
            case 'b' -> {
                String digits = in.hex();
                check(digits.equals("0") || digits.equals("1"));
                print(digits.equals("1") ? "true" : "false");
            }
            case 'c' -> print("'" + character(Long.parseLong(in.hex(7), 16)) + "'");
            default -> {
                check("asxlnihtmyoj".indexOf(tag) >= 0);
                print("asxlni".indexOf(tag) >= 0 && in.eat('n') ? "-" : "");
                String digits = in.hex();
                print(digits.length() > 16 ? "0x" + digits : Long.toUnsignedString(Long.parseUnsignedLong(digits, 16)));
            }
        }
        depth--;
    }

    private static String character(long c) {
        return switch ((int) c) {
            case '\t' -> "\\t";
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\'' -> "\\'";
            default -> {
                check(RustSymbol.isScalar(c) && !Character.isISOControl((int) c));
                yield Character.toString((int) c);
            }
        };
    }

    /// @return number of lifetimes named before
    private int binder() {
        int before = lifetimes;
        if (in.eat('G')) {
            long count = in.base62() + 1;
            check(count > 0 && count <= DEPTH_MAX);
            print("for<");
            for (int i = 0; i < count; i++) {
                lifetimes++;
                print(i == 0 ? "" : ", ");
                lifetime(1);
            }
            print("> ");
        }
        return before;
    }

    private void lifetime() {
        lifetime(in.base62());
    }

    /// @param index 0 for one without a name, 1 for the innermost
    private void lifetime(long index) {
        check(index >= 0 && index <= lifetimes);
        long outer = lifetimes - index;
        print(index == 0 ? "'_" : outer < 26 ? "'" + (char) ('a' + outer) : "'_" + outer);
    }

    /// @return the position to return to; the back-reference is read next
    private int backReference() {
        int tag = in.at() - 1;
        long target = in.base62();
        check(target >= 0 && target < tag);
        int back = in.at();
        in.at((int) target);
        return back;
    }

    private void enter() {
        check(++depth <= DEPTH_MAX && ++steps <= STEPS_MAX);
    }

    private void print(String what) {
        if (!silent) {
            check(out.length() + what.length() <= LENGTH_MAX);
            out.append(what);
        }
    }
}
