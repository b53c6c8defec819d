package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteKind;

/// Reads what the session knows of one patch site, `struct mdl_site`.
///
/// @param address of the record
public record SiteRecord(long address) {
    /// The function that the site is of. It may be another one later: the first calls of a site show whose it is.
    public FunctionRecord functionAcquire() {
        return new FunctionRecord(Memory.getLongAcquire(address + SiteDescriptor.FUNCTION));
    }

    /// Whether a function was written down. None has record 0.
    public boolean hasFunction() {
        return Memory.getLong(address + SiteDescriptor.FUNCTION) != 0;
    }

    /// Whether what one store toggles was written down.
    public boolean hasStore() {
        return Memory.getLong(address + SiteDescriptor.STORE) != 0;
    }

    public SiteKind kind() {
        return SiteKind.of(Memory.getByte(address + SiteDescriptor.KIND));
    }

    /// Whether its calls were of more than one function.
    public boolean varies() {
        return (Memory.getByte(address + SiteDescriptor.FLAGS) & SiteDescriptor.FLAG_VARIES) != 0;
    }

    /// Address of its instruction.
    public long code() {
        return Memory.getLong(address + SiteDescriptor.ADDRESS);
    }

    /// Offset of a string of the session.
    public int image() {
        return Memory.getInt(address + SiteDescriptor.IMAGE);
    }

    /// Offset of the table of what its stub may lead to, 0 when it is closed to clients.
    public int bodies() {
        return Memory.getInt(address + SiteDescriptor.BODIES);
    }
}
