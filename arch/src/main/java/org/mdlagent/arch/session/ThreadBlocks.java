package org.mdlagent.arch.session;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// The blocks of all threads that the session has seen, ended ones included, newest first.
///
/// Threads prepend blocks at any time and never remove one, so an iteration sees all blocks that existed when it
/// began.
public final class ThreadBlocks implements Iterable<ThreadBlock> {
    private final long header;

    /// @param header address of the session
    public ThreadBlocks(long header) {
        this.header = header;
    }

    /// Number of blocks. An iteration may find more.
    public int count() {
        return Memory.getInt(header + HeaderDescriptor.THREAD_COUNT);
    }

    @Override
    public Iterator<ThreadBlock> iterator() {
        return new Walk(Memory.getLongAcquire(header + HeaderDescriptor.THREADS));
    }

    private static final class Walk implements Iterator<ThreadBlock> {
        private long next;

        private Walk(long first) {
            next = first;
        }

        @Override
        public boolean hasNext() {
            return next != 0;
        }

        @Override
        public ThreadBlock next() {
            if (next == 0) {
                throw new NoSuchElementException();
            }
            ThreadBlock block = new ThreadBlock(next);
            next = Memory.getLong(next + ThreadDescriptor.NEXT);
            return block;
        }
    }
}
