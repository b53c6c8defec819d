package org.mdlagent.arch.file;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Functions of libc that the JDK does not offer, for Linux on x86-64.
///
/// One method handle calls all of them, because each further signature costs milliseconds at start-up: the System
/// V calling convention ignores additional argument registers and the upper half of an `int`.
final class LibraryCalls {
    static final int ENOENT = 2;
    static final int EAGAIN = 11;
    static final int EACCES = 13;
    static final int EEXIST = 17;
    static final int ENOTDIR = 20;

    private static final int MESSAGE_MAX = 256;

    private static final FunctionDescriptor SHAPE = FunctionDescriptor.of(
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO = STATE.byteOffset(StructLayout.PathElement.groupElement("errno"));
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle CALL = LINKER.downcallHandle(SHAPE, Linker.Option.captureCallState("errno"));

    static final MemorySegment OPENAT = function("openat");
    static final MemorySegment MKDIRAT = function("mkdirat");
    static final MemorySegment UNLINKAT = function("unlinkat");
    static final MemorySegment RENAMEAT = function("renameat");
    static final MemorySegment READLINKAT = function("readlinkat");
    static final MemorySegment FCHMOD = function("fchmod");
    static final MemorySegment FLOCK = function("flock");
    static final MemorySegment FCNTL = function("fcntl");
    static final MemorySegment CLOSE = function("close");
    private static final MemorySegment GETEUID = function("geteuid");
    private static final MemorySegment STRERROR = function("strerror");

    private LibraryCalls() {}

    private static MemorySegment function(String name) {
        return LINKER.defaultLookup().findOrThrow(name);
    }

    /// A call has failed.
    static final class ErrorException extends Exception {
        private static final long serialVersionUID = 1;
        private final int error;

        ErrorException(int error) {
            this.error = error;
        }

        /// An `errno`.
        int error() {
            return error;
        }
    }

    /// Calls a function that returns -1 on failure.
    static int call(MemorySegment function, long first, long second, long third, long fourth) throws ErrorException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            int result = (int) invoke(function, state, first, second, third, fourth);
            if (result == -1) {
                throw new ErrorException(state.get(ValueLayout.JAVA_INT, ERRNO));
            }
            return result;
        }
    }

    private static long invoke(
            MemorySegment function, MemorySegment state, long first, long second, long third, long fourth) {
        try {
            return (long) CALL.invokeExact(function, state, first, second, third, fourth);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a method handle of native code throws nothing", e);
        }
    }

    static int effectiveUser() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) invoke(GETEUID, arena.allocate(STATE), 0, 0, 0, 0);
        }
    }

    /// The message of an `errno`.
    static String message(int error) {
        try (Arena arena = Arena.ofConfined()) {
            long text = invoke(STRERROR, arena.allocate(STATE), error, 0, 0, 0);
            return MemorySegment.ofAddress(text).reinterpret(MESSAGE_MAX).getString(0);
        }
    }
}
