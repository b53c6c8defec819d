package org.mdlagent.runtime.cli.run;

/// How `mdl doctor` weighs what it has found.
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

    /// Where findings go.
    interface Listener {
        void say(Finding finding, String subject, String text);
    }
}
