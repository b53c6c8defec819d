package org.mdlagent.stress.torture;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.mdlagent.arch.shim.Memory;

/// Text of a file that executors execute. The agent's copy comes in its place and goes again, as by `mdl attach` and
/// `mdl detach` (`code_show`, `file_text_put`).
final class FileText {
    private static final long PAGE = 4096;

    private final Executor.Library library;
    private final long record;
    private final long start;
    private final byte[] contents;
    private final ReentrantLock attached = new ReentrantLock(true);

    /// @param start of code memory that has been written and that nobody executes
    FileText(Laboratory laboratory, long start, long bytes) {
        this.start = start;
        library = laboratory.library();
        contents = Memory.copy(start, (int) (bytes + PAGE - 1 & -PAGE));
        record = laboratory.allocate(ExecutorDescriptor.TEXT_SIZE);
        Memory.putLong(record + ExecutorDescriptor.TEXT_START, start);
        Memory.putLong(record + ExecutorDescriptor.TEXT_LENGTH, contents.length);
        Memory.putLong(record + ExecutorDescriptor.TEXT_ALIAS, laboratory.code().alias(start));
        check("map", Executor.call(library.mapFile(), record));
    }

    /// The copy comes in the file's place.
    void attach() {
        check("attach", Executor.call(library.attach(), record));
    }

    /// The file's text comes in the copy's place.
    void detach() {
        check("detach", Executor.call(library.detach(), record));
    }

    /// For a broken twin.
    void unmap() {
        check("unmap", Executor.call(library.unmap(), record));
    }

    /// Whether the text is the file's, byte for byte.
    boolean isOriginal() {
        return Arrays.equals(contents, Memory.copy(start, contents.length));
    }

    /// Acts while nobody else detaches.
    void exclusively(Runnable action) {
        attached.lock();
        try {
            action.run();
        } finally {
            attached.unlock();
        }
    }

    private static void check(String what, long result) {
        if (result < 0) {
            throw new IllegalStateException("cannot " + what + " the text: errno " + -result);
        }
    }
}
