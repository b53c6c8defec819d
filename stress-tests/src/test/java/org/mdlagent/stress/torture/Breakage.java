package org.mdlagent.stress.torture;

import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.wordpatch.TrapMode;

/// What stands between a protocol and what it acts by: nothing, or what makes of it a broken twin.
interface Breakage {
    Breakage NONE = new Breakage() {};

    default CodeWriter writer(Laboratory laboratory) {
        return laboratory.api();
    }

    default CoreSync sync(CoreSync sync) {
        return sync;
    }

    default TrapMode trapMode() {
        return TrapMode.REDIRECT;
    }
}
