package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Addresses of the records of patch sites, by index.
public final class SiteRecords {
    private final long header;

    /// @param header address of the session
    public SiteRecords(long header) {
        this.header = header;
    }

    public int countAcquire() {
        return Memory.getIntAcquire(header + HeaderDescriptor.SITE_COUNT);
    }

    public int capacity() {
        return Memory.getInt(header + HeaderDescriptor.SITE_CAPACITY);
    }

    /// Address of a record. Its existence is not checked.
    public long address(int index) {
        return Memory.getLong(header + HeaderDescriptor.SITES) + index * SiteDescriptor.SIZE;
    }

    public SiteRecord get(int index) {
        return new SiteRecord(address(index));
    }

    public SiteRecordWriter writer(int index) {
        return new SiteRecordWriter(address(index));
    }
}
