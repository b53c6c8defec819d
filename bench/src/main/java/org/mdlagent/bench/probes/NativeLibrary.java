package org.mdlagent.bench.probes;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// A shared library in this process.
public final class NativeLibrary {
    private static final MethodHandle CALL = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

    private final SymbolLookup symbols;

    public NativeLibrary(Path path) {
        symbols = SymbolLookup.libraryLookup(path, Arena.global());
    }

    /// Address of a function or variable.
    public long address(String symbol) {
        return symbols.findOrThrow(symbol).address();
    }

    /// Calls a function of up to two integers.
    public static long call(long function, long first, long second) {
        try {
            return (long) CALL.invokeExact(MemorySegment.ofAddress(function), first, second);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
