package org.mdlagent.stress.torture;

import org.mdlagent.arch.shim.Memory;
import org.mdlagent.callpatch.CallPatch;

/// Toggles hook sites, and leads their stubs elsewhere, by [org.mdlagent.callpatch.SiteSwitch] and [CallPatch].
class CallPatcher extends Patcher {
    private final CallPatch callPatch;
    private final Breakage.Toggle toggle;
    private final Cell.Mode mode;
    private final Stops stops;
    private final Targets targets;
    private final long[] stubs;
    private final long indices;
    private boolean on;

    /// What it toggles, and by what.
    ///
    /// @param focus   tells executors which site it is at
    /// @param stubs   of the sites
    /// @param indices room for as many indices
    record Work(
            Sites sites,
            long focus,
            CallPatch callPatch,
            Breakage.Toggle toggle,
            Stops stops,
            Targets targets,
            long[] stubs,
            long indices) {}

    CallPatcher(Work work, Cell.Mode mode) {
        super(work.sites.list().stream().map(Sites.Site::split).toList(), work.focus);
        this.mode = mode;
        callPatch = work.callPatch;
        toggle = work.toggle;
        stops = work.stops;
        targets = work.targets;
        stubs = work.stubs;
        indices = work.indices;
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
