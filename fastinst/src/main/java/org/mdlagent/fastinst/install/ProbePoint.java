package org.mdlagent.fastinst.install;

import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteKind;

/// A probe site as it stands in memory.
///
/// @param function what it belongs to, "" while that is not known
/// @param on       whether it leads to its stub now
/// @param versions the bytes that are changed when it is off, and when it is on: the site's, or those of its gate
/// @param gated    the site's own bytes as they are now, where one store changes a gate; else no bytes
/// @param hop      what the jump leads to, where it cannot reach the stub or gate; no bytes where it can
/// @param stub     address of the site's stub
/// @param copy     of the instructions that the jump takes the place of; no bytes where a compiler has left room for it
public record ProbePoint(
        String function,
        String image,
        SiteKind kind,
        SiteInstruction.Form form,
        boolean on,
        Versions versions,
        Code gated,
        Code hop,
        long stub,
        Code copy) {

    /// @param address of the first byte
    /// @param storeAt offset of what one store exchanges
    public record Versions(long address, byte[] off, byte[] on, int storeAt, int storeSize) {}

    /// Bytes in memory.
    public record Code(long address, byte[] bytes) {}
}
