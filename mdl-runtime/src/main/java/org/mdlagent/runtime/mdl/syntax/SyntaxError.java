package org.mdlagent.runtime.mdl.syntax;

/// Unwinds the parser to a point where it can continue. The error has been reported.
final class SyntaxError extends RuntimeException {
    private static final long serialVersionUID = 1;

    SyntaxError() {
        super(null, null, false, false);
    }
}
