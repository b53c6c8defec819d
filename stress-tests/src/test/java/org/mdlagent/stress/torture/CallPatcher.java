package org.mdlagent.stress.torture;

import org.mdlagent.arch.shim.Memory;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.callpatch.SiteSwitch;

/// Toggles hook sites, and leads their stubs elsewhere, by [SiteSwitch] and [CallPatch].
final class CallPatcher extends Patcher {
    private final CallPatch callPatch;
    private final SiteSwitch siteSwitch;
    private final Cell.Mode mode;
    private final Stops stops;
    private final Targets targets;
    private final long[] stubs;
    private final long indices;
    private boolean on;

    /// @param stubs   of the sites
    /// @param indices room for as many indices
    CallPatcher(
            Sites sites,
            long focus,
            CallPatch callPatch,
            SiteSwitch siteSwitch,
            Cell.Mode mode,
            Stops stops,
            Targets targets,
            long[] stubs,
            long indices) {
        super(sites.list().stream().map(Sites.Site::split).toList(), focus);
        this.callPatch = callPatch;
        this.siteSwitch = siteSwitch;
        this.mode = mode;
        this.stops = stops;
        this.targets = targets;
        this.stubs = stubs;
        this.indices = indices;
        for (int i = 0; i < stubs.length; i++) {
            Memory.putInt(indices + (long) i * Integer.BYTES, i);
        }
    }

    @Override
    void round() {
        on = !on;
        if (mode == Cell.Mode.TOGGLE_ALL) {
            stops.begin();
            long unused = siteSwitch.toggle(indices, stubs.length, on);
            for (int i = 0; i < stubs.length; i++) {
                toggled(i);
            }
            return;
        }
        for (int i = 0; i < stubs.length; i++) {
            lookAt(i);
            stops.begin();
            if (mode == Cell.Mode.TOGGLE) {
                long unused = siteSwitch.toggle(indices + (long) i * Integer.BYTES, 1, on);
            } else {
                callPatch.retarget(stubs[i], on ? targets.other() : targets.stub());
            }
            toggled(i);
        }
    }
}
