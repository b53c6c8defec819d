package org.mdlagent.runtime.mdl.request;

/// A program lacks something that a metric needs.
final class Unresolvable extends Exception {
    private static final long serialVersionUID = 1;

    private final String what;
    private final String reason;

    Unresolvable(String what, String reason) {
        super(what + ": " + reason);
        this.what = what;
        this.reason = reason;
    }

    Answer.Obstacle obstacle() {
        return new Answer.Obstacle(what, reason);
    }
}
