package org.mdlagent.runtime.mdl.syntax;

/// Leads the parser to where it can go on. The error has been reported when this is thrown.
final class SyntaxError extends RuntimeException {
    private static final long serialVersionUID = 1;

    SyntaxError() {
        super(null, null, false, false);
    }
}
