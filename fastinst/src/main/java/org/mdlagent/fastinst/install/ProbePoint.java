package org.mdlagent.fastinst.install;

import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteKind;

/// A probe site as it is in memory.
///
/// @param function it belongs to, "" while unknown
/// @param on       whether it leads to its stub now
/// @param versions the toggled bytes, off and on: those of the site, or of its gate
/// @param gated    the site's own bytes as they are now if one store toggles a gate; else empty
/// @param hop      target of the jump if it cannot reach the stub or gate; else empty
/// @param stub     address of the site's stub
/// @param copy     of the instructions that the jump replaces; empty if a compiler has left room for it
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
    /// @param storeAt offset of what one store replaces
    public record Versions(long address, byte[] off, byte[] on, int storeAt, int storeSize) {}

    /// Bytes in memory.
    public record Code(long address, byte[] bytes) {}
}
