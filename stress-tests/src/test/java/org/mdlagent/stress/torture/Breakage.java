package org.mdlagent.stress.torture;

import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.callpatch.SiteSwitch;
import org.mdlagent.wordpatch.TrapMode;

/// Interposes on a protocol's operations: does nothing, or turns it into a broken twin.
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

    /// Switches sites.
    interface Toggle {
        /// @param indices address of their indices in the site table
        void toggle(long indices, int count, boolean on);
    }

    default Toggle toggle(Laboratory laboratory) {
        SiteSwitch siteSwitch = new SiteSwitch(laboratory.api());
        return (indices, count, on) -> {
            long unused = siteSwitch.toggle(indices, count, on);
        };
    }

    /// Puts the copy in the place of the file's text.
    default void attach(FileText text) {
        text.attach();
    }

    /// The displacement of jumps at entries without compiler support.
    ///
    /// @param kind displacement of the cell's kind
    default int displacement(int kind) {
        return kind;
    }

    /// Whether the handler knows what a thread does that traps at the entry while a jump comes or goes.
    default boolean isEntryPublished() {
        return true;
    }

    /// Where gates stand, against the end of a line.
    default int gateOffset() {
        return 0;
    }
}
