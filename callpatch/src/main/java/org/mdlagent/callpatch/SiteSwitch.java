package org.mdlagent.callpatch;

import java.util.List;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.NativeBuffer;

/// Switches sites on and off with one store each, without waiting: step 5 of [CallPatch]. Java has no other
/// way to do so. The words to store come from the session's table of sites.
///
/// Any number of threads may switch; the last store to a site wins.
public final class SiteSwitch {
    private final NativeApi api;

    public SiteSwitch(NativeApi api) {
        this.api = api;
    }

    /// @param sites address of `count` indices (int) of the site table
    /// @return the number of stores made
    public long toggle(long sites, int count, boolean on) {
        return api.toggle(sites, count, on);
    }

    /// @param sites indices of the site table
    public void toggle(List<Integer> sites, boolean on) {
        withIndices(sites, (indices, count) -> {
            long unused = toggle(indices, count, on);
        });
    }

    /// Starts or stops a recorder's view of calls. No entry lacks its exit: exits are switched on first, and
    /// off last.
    ///
    /// @param exits   indices of the site table
    /// @param entries indices of the site table
    public void toggleCalls(List<Integer> exits, List<Integer> entries, boolean on) {
        toggle(on ? exits : entries, on);
        toggle(on ? entries : exits, on);
    }

    /// A function of the shim that takes an array of indices (int).
    private interface OfIndices {
        void accept(long indices, int count);
    }

    /// Removes clients from sites, so that nothing is called there when they are on again.
    public void forgetClients(List<Integer> sites) {
        withIndices(sites, api::forgetClients);
    }

    private static void withIndices(List<Integer> sites, OfIndices action) {
        try (NativeBuffer buffer = NativeBuffer.of((long) sites.size() * Integer.BYTES)) {
            long indices = buffer.address();
            for (int i = 0; i < sites.size(); i++) {
                Memory.putInt(indices + (long) i * Integer.BYTES, sites.get(i));
            }
            action.accept(indices, sites.size());
        }
    }
}
