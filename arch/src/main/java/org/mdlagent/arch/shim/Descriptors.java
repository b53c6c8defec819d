package org.mdlagent.arch.shim;

import java.nio.charset.StandardCharsets;
import org.mdlagent.arch.layout.ApiDescriptor;

/// The file behind each descriptor of this process (`record/files.h`). Names are resource paths, such as
/// `/File/etc/hosts`, and are numbered from 1. Used by the agent's thread only.
public final class Descriptors {
    private static final int COUNT = 8;
    private static final int ENTRIES = 16;

    private final NativeApi api;

    public Descriptors(NativeApi api) {
        this.api = api;
    }

    /// Allocates the table of names, once.
    ///
    /// @throws IllegalStateException if the session is out of memory
    public void begin() {
        if (api.descriptors(ApiDescriptor.FILES_BEGIN, 0, 0, 0) == 0) {
            throw new IllegalStateException("the session file cannot grow");
        }
    }

    /// Address of the function that snippets call for each event of a descriptor.
    public long note() {
        return api.entry(ApiDescriptor.FILES_NOTE);
    }

    /// Address of the word that points to the table of descriptors, a direct
    /// [org.mdlagent.arch.snippet.PositionTable]. The position of a descriptor is the number of its name, or 0 or
    /// below if it has none.
    public long table() {
        return api.entry(ApiDescriptor.FILES_TABLE);
    }

    /// The permanent number of a name; 0 if there is no room.
    public long number(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        try (NativeBuffer at = NativeBuffer.of(name)) {
            return api.descriptors(ApiDescriptor.FILES_INTERN, at.address(), bytes.length, 0);
        }
    }

    /// The number of a file's name; 0 also if a request could not name the file.
    ///
    /// @param path absolute
    public long ofPath(String path) {
        try (NativeBuffer at = NativeBuffer.of(path)) {
            return api.descriptors(ApiDescriptor.FILES_PATH, at.address(), 0, 0);
        }
    }

    /// The number of a socket's name.
    ///
    /// @param peer     a `struct sockaddr`
    /// @param accepted whether the peer has connected to us: then its port is left out
    public long ofPeer(byte[] peer, boolean accepted) {
        try (NativeBuffer at = NativeBuffer.of(peer.length)) {
            Memory.put(at.address(), peer);
            return api.descriptors(ApiDescriptor.FILES_PEER, at.address(), peer.length, accepted ? 1 : 0);
        }
    }

    /// The highest possible number.
    public int capacity() {
        return (int) api.descriptors(ApiDescriptor.FILES_CAPACITY, 0, 0, 0);
    }

    /// The highest number in use. Some numbers may be wasted and never get a name.
    public int taken() {
        return (int) api.descriptors(ApiDescriptor.FILES_TAKEN, 0, 0, 0);
    }

    /// The name of a number, "" while it has none.
    public String name(long number) {
        long at = address(number);
        int length = Memory.getInt(at);
        return length == 0 ? "" : new String(Memory.copy(at + Integer.BYTES, length), StandardCharsets.UTF_8);
    }

    /// Offset in the session of a number's name, which is empty until it is stored.
    public int text(long number) {
        return Math.toIntExact(address(number) - api.session());
    }

    private long address(long number) {
        return api.descriptors(ApiDescriptor.FILES_NAME, number, 0, 0);
    }

    /// A descriptor's entry in the table: a number; 0 or below for none.
    public long entry(int descriptor) {
        return Memory.getLongAcquire(Memory.getLong(table()) + ENTRIES + (long) descriptor * Long.BYTES);
    }

    /// How often a descriptor got no name.
    public long nameless() {
        return Memory.getLongAcquire(behind());
    }

    /// Descriptors from here on have had no events.
    public int end() {
        return (int) Memory.getLongAcquire(behind() + Long.BYTES);
    }

    private long behind() {
        long descriptors = Memory.getLong(table());
        return descriptors + ENTRIES + Memory.getLong(descriptors + COUNT) * Long.BYTES;
    }

    /// Gives a descriptor a name if its entry is unchanged.
    public boolean adopt(int descriptor, long was, long number) {
        return api.descriptors(ApiDescriptor.FILES_ADOPT, descriptor, was, number) != 0;
    }

    /// Sets the directory of relative paths.
    public void enter(String directory) {
        try (NativeBuffer at = NativeBuffer.of(directory)) {
            long unused = api.descriptors(ApiDescriptor.FILES_ENTER, at.address(), 0, 0);
        }
    }

    /// Removes the names of all descriptors.
    public void forget() {
        long unused = api.descriptors(ApiDescriptor.FILES_FORGET, 0, 0, 0);
    }
}
