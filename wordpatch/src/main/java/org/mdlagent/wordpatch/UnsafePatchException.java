package org.mdlagent.wordpatch;

/// The reason why a word cannot be proved safe as a replacement.
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
