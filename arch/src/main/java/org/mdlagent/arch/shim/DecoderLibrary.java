package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// The instruction decoder Zydis 4.0, installed beside the shim, for processes without the shim. With the shim,
/// use [NativeApi#decode], which is faster.
public final class DecoderLibrary {
    /// Larger than `ZydisDecoder` and `ZydisDecodedInstruction`.
    private static final int DECODER_ROOM = 256;

    private static final int INSTRUCTION_ROOM = 2048;

    /// Offset of `length` in `ZydisDecodedInstruction`, after two enumerations.
    private static final int LENGTH = 8;

    private static final int MACHINE_MODE_LONG_64 = 0;
    private static final int STACK_WIDTH_64 = 2;
    private static final int MODE_MINIMAL = 0;

    private static final FunctionDescriptor INIT = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    private static final FunctionDescriptor ENABLE_MODE = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    private static final FunctionDescriptor DECODE = FunctionDescriptor.of(
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);

    private final MethodHandle decodeInstruction;
    private final long decoder;
    private final long instruction;

    /// @param directory that holds the library
    /// @throws IllegalArgumentException if it is missing or of another version
    public DecoderLibrary(Path directory) {
        Arena arena = Arena.global();
        // Zydis needs Zycore, which is found by name once it is loaded.
        SymbolLookup unused = SymbolLookup.libraryLookup(directory.resolve("libZycore.so.1.4"), arena);
        SymbolLookup zydis = SymbolLookup.libraryLookup(directory.resolve("libZydis.so.4.0"), arena);
        decodeInstruction = function(zydis, "ZydisDecoderDecodeInstruction", DECODE);
        MemorySegment room = arena.allocate(DECODER_ROOM + INSTRUCTION_ROOM, Long.BYTES);
        decoder = room.address();
        instruction = decoder + DECODER_ROOM;
        try {
            int made = (int) function(zydis, "ZydisDecoderInit", INIT)
                    .invokeExact(decoder, MACHINE_MODE_LONG_64, STACK_WIDTH_64);
            int minimal =
                    (int) function(zydis, "ZydisDecoderEnableMode", ENABLE_MODE).invokeExact(decoder, MODE_MINIMAL, 1);
            if (made < 0 || minimal < 0) {
                throw new IllegalArgumentException("libZydis.so.4.0 is damaged or of another version");
            }
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle function(SymbolLookup library, String name, FunctionDescriptor type) {
        MemorySegment function =
                library.find(name).orElseThrow(() -> new IllegalArgumentException("libZydis.so.4.0 has no " + name));
        return Linker.nativeLinker().downcallHandle(function, type);
    }

    /// As [NativeApi#decode]. Not thread-safe.
    public long decode(long code, long length, long lengths) {
        byte[] found = new byte[Math.toIntExact(length)];
        int at = 0;
        while (at < length && isInstruction(code + at, length - at)) {
            found[at] = Memory.getByte(instruction + LENGTH);
            at += found[at];
        }
        Memory.put(lengths, found);
        return at;
    }

    private boolean isInstruction(long code, long length) {
        try {
            int status = (int) decodeInstruction.invokeExact(decoder, 0L, code, length, instruction);
            return status >= 0;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
