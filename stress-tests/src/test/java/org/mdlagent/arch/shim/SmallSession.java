package org.mdlagent.arch.shim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HexFormat;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.layout.ApiDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// A session of a few kilobytes, with only the parts of the shim that Java's writers need. It can be reset, so
/// that each of millions of stressed states has its own session.
public final class SmallSession {
    private static final NativeApi HARNESS = NativeApi.ofHarness(Path.of(System.getProperty("mdl.harness")));
    private static final CodeMemory CODE = new CodeMemory(HARNESS);
    private static final int CODE_BYTES = 32;
    private static final int SESSIONS = 2048;
    private static final long CODE_START;

    static {
        try {
            CODE_START = CODE.allocateNear(HARNESS.session(), HARNESS.session(), (SESSIONS + 1L) * CODE_BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Memory.put(CODE.alias(CODE_START), HexFormat.of().parseHex("31C0C3")); // xor %eax,%eax; ret
    }

    private final MemorySegment memory;
    private final NativeApi api;

    /// What has been allocated so far ends here.
    private final long next;

    private SmallSession(int index, long bytes) {
        memory = Arena.global().allocate(Long.BYTES + HeaderDescriptor.SIZE + bytes, 64);
        next = memory.address();
        long allocate = CODE_START + (index + 1L) * CODE_BYTES;
        // mov $next,%rcx; mov %rdi,%rax; lock xadd %rax,(%rcx); ret
        Memory.put(CODE.alias(allocate), HexFormat.of().parseHex("48B900000000000000004889F8F0480FC101C3"));
        Memory.put(CODE.alias(allocate) + 2, bytes(next));
        long table = Arena.global().allocate(ApiDescriptor.SIZE, Long.BYTES).address();
        Memory.putLong(table, ApiDescriptor.SIZE);
        Memory.putLong(table + ApiDescriptor.SESSION, header());
        Memory.putLong(table + ApiDescriptor.ALLOCATE, allocate);
        Memory.putLong(table + ApiDescriptor.CATCH_TRAPS, CODE_START);
        api = new NativeApi(table);
        Memory.putLong(next, arena());
    }

    /// All sessions; each can allocate `bytes`.
    public static SmallSession[] all(long bytes) {
        SmallSession[] all = new SmallSession[SESSIONS];
        for (int i = 0; i < SESSIONS; i++) {
            all[i] = new SmallSession(i, bytes);
        }
        return all;
    }

    public NativeApi api() {
        return api;
    }

    public void clear() {
        long used = Memory.getLong(next) - header();
        if (used > memory.byteSize() - Long.BYTES) {
            throw new IllegalStateException("the session is too small");
        }
        memory.asSlice(Long.BYTES, used).fill((byte) 0);
        Memory.putLong(next, arena());
    }

    private long header() {
        return next + Long.BYTES;
    }

    private long arena() {
        return header() + HeaderDescriptor.SIZE;
    }

    private static byte[] bytes(long value) {
        byte[] bytes = new byte[Long.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (value >>> i * Byte.SIZE);
        }
        return bytes;
    }
}
