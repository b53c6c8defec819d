package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// The instruction decoder that stands beside the shim, Zydis 4.0, for processes that the shim is not in. In those with
/// the shim, [NativeApi#decode] is the same and quicker.
public final class DecoderLibrary {
    /// More than `ZydisDecoder` and `ZydisDecodedInstruction` have.
    private static final int DECODER_ROOM = 256;

    private static final int INSTRUCTION_ROOM = 2048;

    /// Of `length` in `ZydisDecodedInstruction`, behind two enumerations.
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
    /// @throws IllegalArgumentException when there is none, or not what it should be
    public DecoderLibrary(Path directory) {
        Arena arena = Arena.global();
        // The one needs the other, which is found by its name once it is loaded.
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
                throw new IllegalArgumentException("libZydis.so.4.0 is not what it should be");
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

    /// As [NativeApi#decode]. One thread uses it.
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
