package org.mdlagent.runtime.cli.names;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import org.jspecify.annotations.Nullable;

/// Names of C++ as people write them, by this machine's C++ library; as they are where it has none.
final class Demangler {
    private final @Nullable Function demangle;
    private final @Nullable Function free;

    Demangler() {
        Function found = null;
        Function release = null;
        try {
            found = NativeLibrary.getInstance("libstdc++.so.6").getFunction("__cxa_demangle");
            release = NativeLibrary.getInstance("c").getFunction("free");
        } catch (UnsatisfiedLinkError e) {
            // No C++ is installed here.
        }
        demangle = found;
        free = release;
    }

    String demangle(String symbol) {
        if (demangle == null || free == null || !symbol.startsWith("_Z")) {
            return symbol;
        }
        IntByReference status = new IntByReference();
        Pointer name = demangle.invokePointer(new Object[] {symbol, null, null, status});
        if (name == null) {
            return symbol;
        }
        String text = name.getString(0, "UTF-8");
        free.invoke(new Object[] {name});
        return text;
    }
}
