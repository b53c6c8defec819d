package org.mdlagent.profiler.report.slice;

import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.SessionFormatException;

/// Reads and checks the numbers of a time slice, as described in `mdl/layout.h`.
final class SliceNumbers {
    private static final int LOW_BITS = 0x7f;

    private final SessionBytes session;
    private final byte[] bytes;
    private final int functions;
    private int next;

    /// @param session   of the slice, for errors
    /// @param functions number of functions it knows
    SliceNumbers(SessionBytes session, byte[] bytes, int functions) {
        this.session = session;
        this.bytes = bytes;
        this.functions = functions;
    }

    void rewind() {
        next = 0;
    }

    /// A number of 0 or more.
    long next() throws SessionFormatException {
        long number = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (next == bytes.length) {
                break;
            }
            byte part = bytes[next++];
            number |= (long) (part & LOW_BITS) << shift;
            if (part >= 0) { // no more follow
                return session.counted(number);
            }
        }
        throw session.damaged("a slice of time ends within a number");
    }

    /// A number from 0 to `most`.
    int next(int most, String what) throws SessionFormatException {
        long number = next();
        if (number > most) {
            throw session.damaged("a slice of time has " + what + " " + number);
        }
        return (int) number;
    }

    /// The index of a function.
    int function() throws SessionFormatException {
        return next(functions - 1, "a function with the number");
    }

    /// The index of a function, or [EdgeSums#NONE].
    int caller() throws SessionFormatException {
        return next(functions, "a caller with the number") - 1;
    }

    void checkEnd() throws SessionFormatException {
        if (next != bytes.length) {
            throw session.damaged("a slice of time has more numbers than functions");
        }
    }
}
