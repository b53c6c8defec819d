package org.mdlagent.calibrator;

/// Calibration is impossible here; the message says why, and the consequences.
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
