package org.mdlagent.arch.site;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.code.PatchPlan;

/// How patch sites are made to toggle: what is stored there, and where they may lead to.
public interface PatchSites {
    /// The site that a compiler has left at `at`: a call, or what does nothing and is large enough for a jump.
    ///
    /// @param end      behind the last byte that may be read
    /// @param function address of the function that it is in
    /// @param room     bytes in front of the function that may be changed
    /// @return null when nothing is there that can be made to toggle
    @Nullable
    SiteInstruction entrySite(long at, long end, SiteInstruction.Role role, long function, int room);

    /// The places that the site can lead to, where a hop to the stub stands; none when it can lead to any within reach.
    /// [#plan] may refuse one all the same.
    ///
    /// @return the best first; of runs of NOPs the n-th is as far from one site as from another
    long[] hops(SiteInstruction site);

    /// Whether the site has several [#hops] to choose from.
    boolean hasChoice(SiteInstruction site);

    /// The code of a hop.
    ///
    /// @param at where it will stand
    byte[] hop(long at, long target);

    /// The stores that make `site` toggle between nothing and a transfer to `target`.
    ///
    /// @param target     the stub, or one of [#hops]
    /// @param returnStub address of an instruction that only returns, within reach of the site
    /// @throws IllegalArgumentException when the bytes at the site are not what `site` says, or a target is out of
    ///     reach
    PatchPlan plan(SiteInstruction site, long target, long returnStub);

    /// The code of a function that only returns.
    byte[] emptyFunction();

    /// The store that makes the hook stub at `stub` go on in `body`.
    ///
    /// @throws IllegalArgumentException when there is no hook stub, or `body` is out of reach
    CodeStore retarget(long stub, long body);
}
