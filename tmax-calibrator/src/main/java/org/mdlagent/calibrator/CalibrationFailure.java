package org.mdlagent.calibrator;

/// There can be no calibration here; says why, and what that means.
final class CalibrationFailure extends Exception {
    private static final long serialVersionUID = 1;

    private final String remedy;

    CalibrationFailure(String message, String remedy) {
        super(message);
        this.remedy = remedy;
    }

    String remedy() {
        return remedy;
    }
}
