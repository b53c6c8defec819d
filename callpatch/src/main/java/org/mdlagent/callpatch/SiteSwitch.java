package org.mdlagent.callpatch;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;

/// Switches sites on and off, one store each, no wait: step 5 of [CallPatch]. Java has no other way to do so. The words
/// that are stored come from the session's table of sites.
///
/// Any number of threads may switch; of stores to one site the last one stands.
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

    /// Lets a recorder see calls, or none any more. No entry stays without its exit: the
    /// exits are switched on first, and off last.
    ///
    /// @param exits   indices of the site table
    /// @param entries the same
    public void toggleCalls(List<Integer> exits, List<Integer> entries, boolean on) {
        toggle(on ? exits : entries, on);
        toggle(on ? entries : exits, on);
    }

    /// What the shim does with indices (int) that stand at an address.
    private interface OfIndices {
        void accept(long indices, int count);
    }

    /// Takes clients from sites, so that nothing is called there when they are on again.
    public void forgetClients(List<Integer> sites) {
        withIndices(sites, api::forgetClients);
    }

    private static void withIndices(List<Integer> sites, OfIndices action) {
        try (Arena arena = Arena.ofConfined()) {
            long indices = arena.allocate(ValueLayout.JAVA_INT, Math.max(1, sites.size()))
                    .address();
            for (int i = 0; i < sites.size(); i++) {
                Memory.putInt(indices + (long) i * Integer.BYTES, sites.get(i));
            }
            action.accept(indices, sites.size());
        }
    }
}
