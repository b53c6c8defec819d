package org.mdlagent.stress.torture;

import java.util.Locale;

/// One combination of the torture's parameters. Its sites are at every offset in a line.
///
/// @param kind         the patched instruction
/// @param unit         the atomic unit whose rules apply
/// @param sync         how patchers wait until cores fetch their stores
/// @param mode         the protocol and manner of patching
/// @param executors    native threads, or children, that run the sites
/// @param pinned       whether each of these has a core
/// @param patchers     that contend for the same sites
/// @param interference additional disturbance
/// @param copies       sites at each offset
/// @param everyOffset  whether to use every offset; else one offset per split, so that few sites toggle often
record Cell(
        Kind kind,
        int unit,
        Sync sync,
        Mode mode,
        int executors,
        boolean pinned,
        int patchers,
        Interference interference,
        int copies,
        boolean everyOffset) {
    /// Protocol and manner of patching.
    enum Mode {
        /// callpatch, one site at a time.
        TOGGLE,
        /// callpatch, all sites by one call.
        TOGGLE_ALL,
        /// callpatch, call to call: sites stay on, and their stubs are retargeted.
        RETARGET,
        /// callpatch in a process that is attached to and detached from: sites are made in a copy of a file's text,
        /// which
        /// replaces the text and goes again while threads execute it. They are toggled meanwhile.
        ATTACH,
        /// wordpatch, one site at a time.
        PATCH,
        /// wordpatch, asynchronous, many outstanding.
        START,
        /// wordpatch, one sync per phase for all sites.
        PATCH_ALL;

        boolean isWordPatch() {
            return compareTo(PATCH) >= 0;
        }
    }

    enum Sync {
        TMAX,
        MEMBARRIER
    }

    enum Interference {
        NONE,
        /// One patcher is stopped for 100 ms between two steps, another pair each time.
        STOPPED,
        /// Executors block all signals that they can.
        BLOCKED,
        /// Executors are interrupted 10,000 times a second; the handler executes sites too.
        SIGNALS,
        /// The last executor is a child, forked during patching.
        FORK
    }

    String name() {
        return String.join(
                "/",
                label(mode),
                kind.label(),
                "unit" + unit,
                label(sync),
                label(interference),
                "x" + executors + (pinned ? "pinned" : ""),
                "p" + patchers + (copies > 1 ? "/many" : "") + (everyOffset ? "" : "/split"));
    }

    /// Key of totals.
    String protocol() {
        return (mode.isWordPatch() ? "wordpatch " + label(sync) : "callpatch") + " unit " + unit;
    }

    private static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
