package org.mdlagent.runtime.cli.names;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Demangles C++ names with the library that comes with the installation; without the library, names stay
/// mangled. A name that would be longer than [#NAME_MAX] bytes stays mangled as well: a symbol of 300 bytes
/// can expand to gigabytes.
public final class Demangler {
    private static final int NAME_MAX = 8192;

    private final byte[] name = new byte[NAME_MAX];
    private final @Nullable Function demangle;

    public Demangler(Path library) {
        Function found = null;
        try {
            found = NativeLibrary.getInstance(library.toString()).getFunction("demangle");
        } catch (UnsatisfiedLinkError e) {
            // Not installed: names stay mangled.
        }
        demangle = found;
    }

    public String demangle(String symbol) {
        if (demangle == null || !symbol.startsWith("_Z") || symbol.length() >= NAME_MAX / 2) {
            return symbol;
        }
        long length = (Long) demangle.invoke(Long.class, new Object[] {symbol, name, (long) NAME_MAX});
        return length < 0 ? symbol : new String(name, 0, (int) length, StandardCharsets.UTF_8);
    }
}
