package org.mdlagent.wordpatch;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.HexFormat;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Executable memory of this process, with the shim's trap handler: its code is really executed.
final class CodePage {
    static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));
    static final TrapTable TRAPS = new TrapTable(API);

    private static final int BYTES = 128 * 1024;
    private static final MethodHandle FUNCTION =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_INT));

    private final CodeMemory code = new CodeMemory(API);
    private final CodeArena arena = new CodeArena(code, 1 << 20);
    private final long start;

    CodePage() throws IOException {
        long near = API.session();
        start = code.allocateNear(near, near, BYTES);
    }

    long start() {
        return start;
    }

    CodeMemory code() {
        return code;
    }

    CodeArena arena() {
        return arena;
    }

    /// Writes code that nobody executes yet, from hexadecimal digits separated by blanks.
    void put(long address, String hex) {
        Memory.put(code.alias(address), bytes(hex));
    }

    /// Calls the function at `address`, which returns an int.
    int call(long address) {
        try {
            return (int) FUNCTION.invokeExact(MemorySegment.ofAddress(address));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// The displacement, in hexadecimal, of a branch that ends at `next`.
    static String displacement(long next, long target) {
        return HexFormat.of().toHexDigits(Integer.reverseBytes(Math.toIntExact(target - next)));
    }

    static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    /// Bytes in hexadecimal, in the order of addresses, as a word.
    static long word(String hex) {
        byte[] bytes = bytes(hex);
        long word = 0;
        for (int i = bytes.length - 1; i >= 0; i--) {
            word = word << Byte.SIZE | bytes[i] & 0xFF;
        }
        return word;
    }
}
