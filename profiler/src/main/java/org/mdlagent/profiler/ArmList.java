package org.mdlagent.profiler;

import java.util.List;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.NativeBuffer;

/// Functions whose probes are switched on or off together, by one call of the shim.
public final class ArmList {
    private final NativeApi api;
    private long functions;
    private long longest;
    private int size;

    public ArmList(NativeApi api) {
        this.api = api;
    }

    public void clear() {
        size = 0;
    }

    public int size() {
        return size;
    }

    public int function(int position) {
        return Memory.getInt(functions + (long) position * Integer.BYTES);
    }

    public void add(int function) {
        add(function, 0);
    }

    /// @param longestTicks lease after which probes that this list switches on switch themselves off
    public void add(int function, long longestTicks) {
        if (functions == 0) {
            // The capacity is unknown before there are functions.
            int most = Memory.getInt(api.session() + HeaderDescriptor.FUNCTION_CAPACITY);
            functions = NativeBuffer.forEver((long) most * Integer.BYTES);
            longest = NativeBuffer.forEver((long) most * Long.BYTES);
        }
        Memory.putInt(functions + (long) size * Integer.BYTES, function);
        Memory.putLong(longest + (long) size * Long.BYTES, longestTicks);
        size++;
    }

    /// Switches all probes on.
    public void arm() {
        long unused = api.arm(functions, longest, size);
    }

    /// Switches all probes off.
    public void disarm() {
        long unused = api.disarm(functions, size);
    }

    /// Switches the probes of these functions off, which replace those of the list. Does nothing if there are none.
    public void disarm(List<Integer> others) {
        if (others.isEmpty()) {
            return;
        }
        clear();
        for (int function : others) {
            add(function);
        }
        disarm();
    }
}
