package org.mdlagent.arch.site;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodeStore;
import org.mdlagent.arch.code.PatchPlan;

/// Makes patch sites toggle: the stores, and the possible targets.
public interface PatchSites {
    /// The site that a compiler has made at `at`: a call, or a NOP that is large enough for a jump.
    ///
    /// @param end      after the last byte that may be read
    /// @param function address of its function
    /// @param room     bytes before the function that may be changed
    /// @return null if there is no site that can be made to toggle
    @Nullable
    SiteInstruction entrySite(long at, long end, SiteInstruction.Role role, long function, int room);

    /// The possible addresses of a hop from the site to the stub; empty if the site can lead anywhere within
    /// reach. [#plan] may still refuse one.
    ///
    /// @return the best first; for runs of NOPs, the n-th has the same distance at every site
    long[] hops(SiteInstruction site);

    /// Whether the site has several [#hops] to choose from.
    boolean hasChoice(SiteInstruction site);

    /// The code of a hop.
    ///
    /// @param at its future address
    byte[] hop(long at, long target);

    /// The stores that make `site` toggle between a NOP and a transfer to `target`.
    ///
    /// @param target     the stub, or one of [#hops]
    /// @param returnStub address of an instruction that only returns, within reach of the site
    /// @throws IllegalArgumentException if the bytes at the site differ from `site`, or a target is out of reach
    PatchPlan plan(SiteInstruction site, long target, long returnStub);

    /// The code of a function that only returns.
    byte[] emptyFunction();

    /// The store that makes the hook stub at `stub` continue in `body`.
    ///
    /// @throws IllegalArgumentException if there is no hook stub, or `body` is out of reach
    CodeStore retarget(long stub, long body);
}
