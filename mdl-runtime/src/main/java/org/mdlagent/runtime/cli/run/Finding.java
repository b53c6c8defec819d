package org.mdlagent.runtime.cli.run;

/// The severity of a finding of `mdl doctor`.
enum Finding {
    OK("ok  "),
    NOTE("note"),
    STOP("STOP");

    private final String word;

    Finding(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }

    /// Receives findings.
    interface Listener {
        void say(Finding finding, String subject, String text);
    }
}
