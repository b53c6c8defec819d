package org.mdlagent.fastinst.install;

import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteKind;

/// A probe site as it stands in memory.
///
/// @param function what it belongs to, "" while that is not known
/// @param on       whether it leads to its stub now
/// @param versions the site's bytes when it is off, and when it is on
/// @param hop      what the jump leads to, where it cannot reach the stub; no bytes where it can
/// @param stub     address of the site's stub
/// @param copy     of the instructions that the jump takes the place of; no bytes where a compiler has left room for it
public record ProbePoint(
        String function,
        String image,
        SiteKind kind,
        SiteInstruction.Form form,
        boolean on,
        Versions versions,
        Code hop,
        long stub,
        Code copy) {

    /// @param address of the first byte
    /// @param storeAt offset of what one store exchanges
    public record Versions(long address, byte[] off, byte[] on, int storeAt, int storeSize) {}

    /// Bytes in memory.
    public record Code(long address, byte[] bytes) {}
}
