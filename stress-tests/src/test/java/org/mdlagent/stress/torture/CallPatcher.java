package org.mdlagent.stress.torture;

import org.mdlagent.arch.shim.Memory;
import org.mdlagent.callpatch.CallPatch;

/// Toggles hook sites, and leads their stubs elsewhere, by [org.mdlagent.callpatch.SiteSwitch] and [CallPatch].
final class CallPatcher extends Patcher {
    private final CallPatch callPatch;
    private final Breakage.Toggle toggle;
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
            Breakage.Toggle toggle,
            Cell.Mode mode,
            Stops stops,
            Targets targets,
            long[] stubs,
            long indices) {
        super(sites.list().stream().map(Sites.Site::split).toList(), focus);
        this.callPatch = callPatch;
        this.toggle = toggle;
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
            stops.step("toggle");
            toggle.toggle(indices, stubs.length, on);
            for (int i = 0; i < stubs.length; i++) {
                toggled(i);
            }
            return;
        }
        for (int i = 0; i < stubs.length; i++) {
            lookAt(i);
            stops.begin();
            if (mode == Cell.Mode.TOGGLE) {
                stops.step("toggle");
                toggle.toggle(indices + (long) i * Integer.BYTES, 1, on);
            } else {
                callPatch.retarget(stubs[i], on ? targets.other() : targets.stub());
            }
            toggled(i);
        }
    }
}
