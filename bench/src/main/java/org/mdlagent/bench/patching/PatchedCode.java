package org.mdlagent.bench.patching;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.bench.tools.SourceTree;

/// Machine code functions that benchmarks patch, and a thread that executes them meanwhile.
final class PatchedCode {
    /// Functions that the executing thread calls in turn, and that are patched one by one.
    static final int EXECUTED = 64;

    /// Offsets in the memory that controls the executing thread.
    private static final byte ROUNDS = 0;

    private static final byte STOP = 8;

    private static final long ROUNDS_MIN = 10_000;

    private static final int SLOT_BYTES = 128;
    private static final long ARENA_BYTES_MAX = 64L << 20;

    final NativeApi api = SourceTree.harness();
    final CodeMemory code = new CodeMemory(api);
    final CodeArena arena = new CodeArena(code, ARENA_BYTES_MAX);

    private final long first;
    private final long control = api.allocate(2 * Long.BYTES);
    private @Nullable Thread executor;

    /// @param offset where in 128 aligned bytes a function starts
    PatchedCode(int functions, int offset, byte[] function) {
        try {
            long text = code.allocateNear(api.session(), api.session(), (long) functions * SLOT_BYTES);
            first = text + offset;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (int i = 0; i < functions; i++) {
            Memory.put(code.alias(function(i)), function);
        }
    }

    /// Address of function `index`.
    long function(int index) {
        return first + (long) index * SLOT_BYTES;
    }

    /// Writes code, or data, that the functions reach.
    ///
    /// @return its address
    long write(byte... bytes) {
        long address = allocate(bytes.length);
        Memory.put(code.alias(address), bytes);
        return address;
    }

    long allocate(int size) {
        try {
            return arena.allocate(api.session(), size);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Lets another thread execute the first functions, without ever leaving machine code, until [#stopExecuting].
    void execute() {
        ByteBuffer loop = ByteBuffer.allocate(EXECUTED * 5 + 64).order(ByteOrder.LITTLE_ENDIAN);
        long at = allocate(loop.capacity());
        loop.put(new byte[] {0x48, (byte) 0x83, (byte) 0xEC, 8}); // sub $8,%rsp
        int top = loop.position();
        for (int i = 0; i < EXECUTED; i++) {
            loop.put((byte) 0xE8); // call
            loop.putInt((int) (function(i) - (at + loop.position() + 4)));
        }
        loop.put(new byte[] {0x49, (byte) 0xBB}).putLong(control); // movabs $control,%r11
        loop.put(new byte[] {0x49, (byte) 0xFF, 0x43, ROUNDS}); // incq ROUNDS(%r11)
        loop.put(new byte[] {0x41, (byte) 0x83, 0x7B, STOP, 0}); // cmpl $0,STOP(%r11)
        loop.put(new byte[] {0x0F, (byte) 0x84}); // je top
        loop.putInt(top - (loop.position() + 4));
        loop.put(new byte[] {0x48, (byte) 0x83, (byte) 0xC4, 8, (byte) 0xC3}); // add $8,%rsp; ret
        Memory.put(code.alias(at), Arrays.copyOf(loop.array(), loop.position()));
        MethodHandle call =
                Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(at), FunctionDescriptor.ofVoid());
        executor = Thread.ofPlatform().name("executor").start(() -> {
            try {
                call.invokeExact();
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
    }

    /// @throws IllegalStateException if the functions were hardly executed, which invalidates the measurement
    void stopExecuting() throws InterruptedException {
        if (executor == null) {
            return;
        }
        Memory.putInt(control + STOP, 1);
        executor.join();
        long rounds = Memory.getLong(control + ROUNDS);
        if (rounds < ROUNDS_MIN) {
            throw new IllegalStateException("the other thread executed each function only " + rounds + " times");
        }
    }
}
