package org.mdlagent.arch.shim;

import java.util.Arrays;

/// A lexer of Rust's v0 symbols: letters, numbers, identifiers.
final class RustSymbol {
    /// Largest number that still fits in 64 bits when multiplied by 62 plus a digit.
    private static final long BASE62_MAX = Long.divideUnsigned(-1 - 62, 62);

    private final String text;
    private int at;

    RustSymbol(String text) {
        this.text = text;
    }

    int at() {
        return at;
    }

    void at(int position) {
        at = position;
    }

    void skip() {
        at++;
    }

    long disambiguator() {
        return eat('s') ? base62() + 1 : 0;
    }

    /// Unsigned: hashes take all 64 bits.
    long base62() {
        if (eat('_')) {
            return 0;
        }
        long value = 0;
        do {
            char c = next();
            int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c - 'A' + 36;
            check(isLetter(c) || c >= '0' && c <= '9');
            check(Long.compareUnsigned(value, BASE62_MAX) <= 0);
            value = value * 62 + digit;
        } while (!eat('_'));
        return value + 1;
    }

    String identifier() {
        boolean punycode = eat('u');
        char first = next();
        check(first >= '0' && first <= '9');
        int length = first - '0';
        while (first != '0' && peek() >= '0' && peek() <= '9') {
            length = length * 10 + next() - '0';
            check(length <= text.length());
        }
        boolean unused = eat('_');
        check(length <= text.length() - at);
        String name = text.substring(at, at + length);
        at += length;
        for (int i = 0; i < length; i++) {
            check(isLetter(name.charAt(i)) || hexDigit(name.charAt(i)) >= 0 || name.charAt(i) == '_');
        }
        return punycode ? decoded(name) : name;
    }

    /// Punycode (RFC 3492), with an underscore for the hyphen.
    private static String decoded(String name) {
        int delimiter = name.lastIndexOf('_');
        int[] points = Arrays.copyOf(
                name.substring(0, Math.max(0, delimiter)).codePoints().toArray(), name.length());
        int count = Math.max(0, delimiter);
        long point = 128;
        long index = 0;
        int bias = 72;
        for (int in = delimiter + 1; in < name.length(); ) {
            long before = index;
            long weight = 1;
            for (int k = 36; ; k += 36) {
                check(in < name.length());
                char c = name.charAt(in++);
                int digit = c >= 'a' && c <= 'z' ? c - 'a' : c >= '0' && c <= '9' ? c - '0' + 26 : -1;
                check(digit >= 0);
                index += digit * weight;
                check(index <= Integer.MAX_VALUE);
                int threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
                if (digit < threshold) {
                    break;
                }
                weight *= 36 - threshold;
                check(weight <= Integer.MAX_VALUE);
            }
            count++;
            long delta = (index - before) / (before == 0 ? 700 : 2);
            delta += delta / count;
            int k = 0;
            for (; delta > 455; k += 36) {
                delta /= 35;
            }
            bias = (int) (k + 36 * delta / (delta + 38));
            point += index / count;
            index %= count;
            check(isScalar(point));
            System.arraycopy(points, (int) index, points, (int) index + 1, count - 1 - (int) index);
            points[(int) index++] = (int) point;
        }
        return new String(points, 0, count);
    }

    String hex(int lengthMax) {
        String digits = hex();
        check(digits.length() <= lengthMax);
        return digits;
    }

    /// Digits up to an underscore, without leading zeros.
    String hex() {
        int start = at;
        while (hexDigit(peek()) >= 0) {
            at++;
        }
        int end = at;
        check(end > start && eat('_') && end - start <= 32 && (end - start == 1 || text.charAt(start) != '0'));
        return text.substring(start, end);
    }

    static boolean isScalar(long c) {
        return c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE && c <= Character.MAX_CODE_POINT;
    }

    boolean isAtEnd() {
        return at == text.length();
    }

    /// NUL at the end.
    char peek() {
        return isAtEnd() ? 0 : text.charAt(at);
    }

    char next() {
        check(!isAtEnd());
        return text.charAt(at++);
    }

    boolean eat(char c) {
        boolean there = peek() == c;
        at += there ? 1 : 0;
        return there;
    }

    static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }

    static int hexDigit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }

    static void check(boolean holds) {
        if (!holds) {
            throw new Malformed();
        }
    }

    /// Without a stack trace: bad input, not a defect.
    static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1;

        Malformed() {
            super(null, null, false, false);
        }
    }
}
