package org.mdlagent.fastinst.install;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Writes the session's tables of functions and sites. A table is complete before its count is published.
public final class SessionTables {
    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int BLOCK = 64 * 1024;

    private final NativeApi api;
    private final long header;
    private final Map<String, Integer> strings = new HashMap<>();

    /// The rest of the block that small allocations are taken from.
    private long blockNext;

    private long blockEnd;

    public SessionTables(NativeApi api) {
        this.api = api;
        header = api.session();
    }

    /// Whether the profiler wants probes on.
    boolean isProfiled() {
        return (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_UNPROFILED) == 0;
    }

    /// Counts images and functions that could have had probes and have none, for readers.
    void refuse(int images, int functions) {
        Memory.addLong(header + HeaderDescriptor.IMAGES_REFUSED, images);
        Memory.addLong(header + HeaderDescriptor.FUNCTIONS_REFUSED, functions);
    }

    /// Allocates a table of `capacity` function records and publishes it in the header, with no functions in
    /// it.
    public long allocateFunctions(int capacity) {
        long functions = allocate(capacity * FunctionDescriptor.SIZE);
        Memory.putInt(header + HeaderDescriptor.FUNCTION_CAPACITY, capacity);
        Memory.putLong(header + HeaderDescriptor.FUNCTIONS, functions);
        long slots = Long.highestOneBit(Math.max(1, capacity)) * 4;
        Memory.putLong(header + HeaderDescriptor.LOOKUP, allocate(slots * Long.BYTES));
        Memory.putLong(header + HeaderDescriptor.LOOKUP_MASK, slots - 1);
        return functions;
    }

    /// Allocates a table of `capacity` site records.
    public long allocateSites(int capacity) {
        long sites = allocate(Math.max(1, capacity) * SiteDescriptor.SIZE);
        Memory.putInt(header + HeaderDescriptor.SITE_CAPACITY, capacity);
        Memory.putLong(header + HeaderDescriptor.SITES, sites);
        return sites;
    }

    /// Adds a function record to the shim's lookup by address.
    public void addLookup(long address, long function) {
        long table = Memory.getLong(header + HeaderDescriptor.LOOKUP);
        long mask = Memory.getLong(header + HeaderDescriptor.LOOKUP_MASK);
        long slot = ((address >>> 4) * HASH >>> 32) & mask;
        while (isTaken(Memory.getLong(table + slot * Long.BYTES))) {
            slot = slot + 1 & mask;
        }
        Memory.putLongRelease(table + slot * Long.BYTES, function);
    }

    /// A used slot remains part of probe chains through it until another function takes it.
    private static boolean isTaken(long function) {
        return function != 0 && Memory.getLong(function + FunctionDescriptor.ADDRESS) != 0;
    }

    /// Removes a function record from the lookup by address.
    ///
    /// @param nobody a function record without an address
    public void removeLookup(long address, long function, long nobody) {
        long table = Memory.getLong(header + HeaderDescriptor.LOOKUP);
        long mask = Memory.getLong(header + HeaderDescriptor.LOOKUP_MASK);
        long slot = ((address >>> 4) * HASH >>> 32) & mask;
        long at = Memory.getLong(table + slot * Long.BYTES);
        while (at != function && at != 0) {
            slot = slot + 1 & mask;
            at = Memory.getLong(table + slot * Long.BYTES);
        }
        if (at == function) {
            Memory.putLongRelease(table + slot * Long.BYTES, nobody);
        }
    }

    /// Offset in the session file of `text` as a `struct mdl_string`; 0 for the empty string.
    public int string(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        Integer known = strings.get(text);
        if (known != null) {
            return known;
        }
        int offset = newString(text);
        strings.put(text, offset);
        return offset;
    }

    /// As [#string], for one of many texts that mostly differ: duplicates are not detected.
    int newString(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int size = Integer.BYTES + bytes.length + 1; // with a NUL
        byte[] string = new byte[size + Long.BYTES - 1 & -Long.BYTES];
        ByteBuffer.wrap(string)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bytes.length)
                .put(bytes);
        long at = take(string.length);
        Memory.put(at, string);
        return offset(at);
    }

    /// Address of a permanent NUL-terminated copy of `text`.
    public long terminated(String text) {
        int offset = string(text.isEmpty() ? "\0" : text);
        return header + Integer.toUnsignedLong(offset) + Integer.BYTES;
    }

    /// The text that [#string] wrote at an offset.
    public String text(int offset) {
        if (offset == 0) {
            return "";
        }
        long at = header + Integer.toUnsignedLong(offset);
        return new String(Memory.copy(at + Integer.BYTES, Memory.getInt(at)), StandardCharsets.UTF_8);
    }

    /// Offset in the session file of an allocation's address.
    int offset(long address) {
        return Math.toIntExact(address - header);
    }

    /// Allocates room for `count` indices.
    public long allocateIndices(int count) {
        return take(Math.max(1L, count) * Integer.BYTES);
    }

    /// Allocates a small piece, aligned to 8.
    private long take(long bytes) {
        long size = bytes + Long.BYTES - 1 & -Long.BYTES;
        if (blockEnd - blockNext < size) {
            long block = Math.max(BLOCK, size);
            blockNext = allocate(block);
            blockEnd = blockNext + block;
        }
        long at = blockNext;
        blockNext += size;
        return at;
    }

    /// @throws IllegalStateException when the session is full
    public long allocate(long bytes) {
        long address = api.allocate(bytes);
        if (address == 0) {
            throw new IllegalStateException("the session file cannot grow by " + bytes + " bytes: its limit of "
                    + (Memory.getLong(header + HeaderDescriptor.LIMIT) >> 20)
                    + " MiB is reached, or its file system is full");
        }
        return address;
    }
}
