package org.mdlagent.wordpatch;

/// Says why a word cannot be proved to be safe in place of another.
final class UnsafePatchException extends Exception {
    private static final long serialVersionUID = 1;

    private final String reason;

    UnsafePatchException(String reason) {
        super(reason);
        this.reason = reason;
    }

    String reason() {
        return reason;
    }
}
