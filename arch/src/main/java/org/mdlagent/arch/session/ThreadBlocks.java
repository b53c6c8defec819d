package org.mdlagent.arch.session;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// The blocks of all threads that the session has seen, the newest first; those of ended ones too.
///
/// Threads prepend their blocks at any time and never remove one, so each walk sees all blocks that were there when it
/// began.
public final class ThreadBlocks implements Iterable<ThreadBlock> {
    private final long header;

    /// @param header address of the session
    public ThreadBlocks(long header) {
        this.header = header;
    }

    /// How many there are. A walk may find more, which have come since.
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
