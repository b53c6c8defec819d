package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// Which file each descriptor of this process stands for (`record/files.h`). Names are paths of resources, as
/// `/File/etc/hosts`, and have numbers from 1 on. Used by one thread, the agent's.
public final class Descriptors {
    private static final int COUNT = 8;
    private static final int ENTRIES = 16;

    private final NativeApi api;

    public Descriptors(NativeApi api) {
        this.api = api;
    }

    /// Makes room for names, unless there is.
    ///
    /// @throws IllegalStateException when the session has none
    public void begin() {
        if (api.descriptors(NativeApi.FILES_BEGIN, 0, 0, 0) == 0) {
            throw new IllegalStateException("the session file cannot grow");
        }
    }

    /// Address of the function that snippets tell of what happens to descriptors.
    public long note() {
        return api.entry(NativeApi.FILES_NOTE);
    }

    /// Address of a word that leads to the table of descriptors, as a direct [org.mdlagent.arch.snippet.PositionTable]
    /// has one. The position of a descriptor is the number of its name; it is 0 or below where it has none.
    public long table() {
        return api.entry(NativeApi.FILES_TABLE);
    }

    /// Number of a name, the same for good; 0 when there is no room for it.
    public long number(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocateFrom(name).address();
            return api.descriptors(NativeApi.FILES_INTERN, at, bytes.length, 0);
        }
    }

    /// Number of a file's name: 0 too where a request could not name it.
    ///
    /// @param path absolute
    public long ofPath(String path) {
        try (Arena arena = Arena.ofConfined()) {
            return api.descriptors(
                    NativeApi.FILES_PATH, arena.allocateFrom(path).address(), 0, 0);
        }
    }

    /// Number of a socket's name.
    ///
    /// @param peer     a `struct sockaddr`
    /// @param accepted whether the peer has called, so that its port is of no interest
    public long ofPeer(byte[] peer, boolean accepted) {
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocateFrom(ValueLayout.JAVA_BYTE, peer).address();
            return api.descriptors(NativeApi.FILES_PEER, at, peer.length, accepted ? 1 : 0);
        }
    }

    /// Highest number that a name can have.
    public int capacity() {
        return (int) api.descriptors(NativeApi.FILES_CAPACITY, 0, 0, 0);
    }

    /// Highest number that has been given. One may have been wasted, and never has a name.
    public int taken() {
        return (int) api.descriptors(NativeApi.FILES_TAKEN, 0, 0, 0);
    }

    /// Name of a number, "" as long as it has none.
    public String name(long number) {
        long at = address(number);
        int length = Memory.getInt(at);
        return length == 0 ? "" : new String(Memory.copy(at + Integer.BYTES, length), StandardCharsets.UTF_8);
    }

    /// Offset in the session of a number's name, as texts lie there: one is empty before it is there.
    public int text(long number) {
        return Math.toIntExact(address(number) - api.session());
    }

    private long address(long number) {
        return api.descriptors(NativeApi.FILES_NAME, number, 0, 0);
    }

    /// What stands in the table for a descriptor: a number; 0 or below for none.
    public long entry(int descriptor) {
        return Memory.getLongAcquire(Memory.getLong(table()) + ENTRIES + (long) descriptor * Long.BYTES);
    }

    /// How often a descriptor has been left without a name. Changes whenever one is.
    public long nameless() {
        return Memory.getLongAcquire(behind());
    }

    /// Descriptors from here on have never been told of.
    public int end() {
        return (int) Memory.getLongAcquire(behind() + Long.BYTES);
    }

    private long behind() {
        long descriptors = Memory.getLong(table());
        return descriptors + ENTRIES + Memory.getLong(descriptors + COUNT) * Long.BYTES;
    }

    /// Gives a descriptor a name if its entry is still what it was.
    public boolean adopt(int descriptor, long was, long number) {
        return api.descriptors(NativeApi.FILES_ADOPT, descriptor, was, number) != 0;
    }

    /// Tells where relative paths begin.
    public void enter(String directory) {
        try (Arena arena = Arena.ofConfined()) {
            long unused = api.descriptors(
                    NativeApi.FILES_ENTER, arena.allocateFrom(directory).address(), 0, 0);
        }
    }

    /// All descriptors have no name any more.
    public void forget() {
        long unused = api.descriptors(NativeApi.FILES_FORGET, 0, 0, 0);
    }
}
