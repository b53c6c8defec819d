package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteKind;

/// A read-only view of a patch site's record, `struct mdl_site`.
///
/// @param address of the record
public record SiteRecord(long address) {
    /// The site's function. It may change, because the first calls of a site can show another function.
    public FunctionRecord functionAcquire() {
        return new FunctionRecord(Memory.getLongAcquire(address + SiteDescriptor.FUNCTION));
    }

    /// Whether a function is known; 0 is not a valid record.
    public boolean hasFunction() {
        return Memory.getLong(address + SiteDescriptor.FUNCTION) != 0;
    }

    /// Whether the toggling store is known.
    public boolean hasStore() {
        return Memory.getLong(address + SiteDescriptor.STORE) != 0;
    }

    public SiteKind kind() {
        return SiteKind.of(Memory.getByte(address + SiteDescriptor.KIND));
    }

    /// Whether its calls belong to several functions.
    public boolean varies() {
        return (Memory.getByte(address + SiteDescriptor.FLAGS) & SiteDescriptor.FLAG_VARIES) != 0;
    }

    /// Address of the struct mdl_jump by which its jump comes and goes, 0 where it does not.
    public long steps() {
        return (Memory.getByte(address + SiteDescriptor.FLAGS) & SiteDescriptor.FLAG_STEPS) == 0
                ? 0
                : Memory.getLong(address + SiteDescriptor.OWNER);
    }

    /// Address of its instruction.
    public long code() {
        return Memory.getLong(address + SiteDescriptor.ADDRESS);
    }

    /// Offset of a string of the session.
    public int image() {
        return Memory.getInt(address + SiteDescriptor.IMAGE);
    }

    /// Offset of the table of its stub's targets, 0 if it is closed to clients.
    public int bodies() {
        return Memory.getInt(address + SiteDescriptor.BODIES);
    }
}
