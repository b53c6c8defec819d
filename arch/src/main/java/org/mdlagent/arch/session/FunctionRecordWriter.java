package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Writes the fields that Java owns in a probed function's record: its identity, its sites, its lease and its
/// estimates.
///
/// @param address of the record
public record FunctionRecordWriter(long address) {
    public void setIndex(int index) {
        Memory.putInt(address + FunctionDescriptor.INDEX, index);
    }

    /// @param name offset of a string of the session
    public void setName(int name) {
        Memory.putInt(address + FunctionDescriptor.NAME, name);
    }

    /// @param symbol offset of a string of the session
    public void setSymbol(int symbol) {
        Memory.putInt(address + FunctionDescriptor.SYMBOL, symbol);
    }

    /// @param image offset of a string of the session
    public void setImage(int image) {
        Memory.putInt(address + FunctionDescriptor.IMAGE, image);
    }

    /// @param build offset of a string of the session
    public void setBuild(int build) {
        Memory.putInt(address + FunctionDescriptor.BUILD, build);
    }

    /// @param bytes of the function's code
    public void setCodeSize(int bytes) {
        Memory.putInt(address + FunctionDescriptor.CODE_SIZE, bytes);
    }

    /// Sets the mean number of calls per randomly timed call.
    ///
    /// @param mean   0 if the function is sliced
    /// @param weight calls that a timed call represents, if the mean is above 1
    public void setMeanRelease(int mean, int weight) {
        if (mean > 1) {
            setWeight(weight);
        }
        Memory.putIntRelease(address + FunctionDescriptor.MEAN, mean);
    }

    /// Publishes the record.
    ///
    /// @param code start of the function, 0 if its image was unloaded
    public void setCodeRelease(long code) {
        Memory.putLongRelease(address + FunctionDescriptor.ADDRESS, code);
    }

    /// @param file offset of a string of the session
    public void setSourceRelease(int file, int line) {
        Memory.putInt(address + FunctionDescriptor.LINE, line);
        Memory.putIntRelease(address + FunctionDescriptor.FILE, file);
    }

    /// @param flags of `FunctionDescriptor.FLAG_`
    public void addFlags(int flags) {
        Memory.putInt(address + FunctionDescriptor.FLAGS, Memory.getInt(address + FunctionDescriptor.FLAGS) | flags);
    }

    /// @param flags of `FunctionDescriptor.FLAG_`
    public void removeFlags(int flags) {
        Memory.putInt(address + FunctionDescriptor.FLAGS, Memory.getInt(address + FunctionDescriptor.FLAGS) & ~flags);
    }

    /// @param list address of the indices of its sites, exits first
    public void setSiteList(long list) {
        Memory.putLong(address + FunctionDescriptor.SITE_LIST, list);
    }

    /// Number of the list's sites in use.
    public void setSites(int exits, int entries) {
        Memory.putInt(address + FunctionDescriptor.EXIT_SITES, exits);
        Memory.putInt(address + FunctionDescriptor.ENTRY_SITES, entries);
    }

    /// Number of further timed calls whose callers are recorded.
    public void setRemaining(int calls) {
        Memory.putInt(address + FunctionDescriptor.REMAINING, calls);
    }

    /// With a mean above 1: calls that a timed call represents.
    public void setWeight(int calls) {
        Memory.putInt(address + FunctionDescriptor.WEIGHT, calls);
    }
}
