package org.mdlagent.profiler.tier;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;

/// What a thread may spend on measuring between two looks of the agent. Machine code enforces it: the thread
/// that calls a function that becomes hot stops it. Functions with a named tier are exempt.
public final class Allowance {
    /// Prices are published in this fraction of a tick.
    private static final int PARTS = 256;

    /// Hysteresis: a price is kept until it is wrong by this factor.
    private static final double CHANGE = 1.25;

    private final long header;
    private final double budget;
    private double told;
    private long expired;

    public Allowance(long header, double budget) {
        this.header = header;
        this.budget = budget;
    }

    /// Sets the price. One thread may spend the whole allowance, because it may be the only one that calls
    /// functions.
    ///
    /// @param pace CPU time of the program per nanosecond of elapsed time
    public void set(double pace) {
        double price = 1 / (budget * pace);
        if (budget < 1 && (price > CHANGE * told || told > CHANGE * price)) {
            told = price;
            Memory.putLong(header + HeaderDescriptor.TICK_PRICE, Math.max(1, Math.round(PARTS * price)));
        }
    }

    public boolean isSet() {
        return told > 0;
    }

    /// Exempts a function: its calls are recorded whatever they cost.
    public static void lift(long record) {
        new FunctionRecordWriter(record).addFlags(FunctionDescriptor.FLAG_NAMED);
    }

    /// Whether functions have been stopped since the last call.
    public boolean haveStopped() {
        long before = expired;
        expired = Memory.getLongAcquire(header + HeaderDescriptor.EXPIRED);
        return expired != before;
    }

    /// As [#haveStopped], without resetting it.
    public boolean wouldHaveStopped() {
        return Memory.getLongAcquire(header + HeaderDescriptor.EXPIRED) != expired;
    }

    public static boolean isStopped(long record) {
        return Memory.getIntAcquire(record + FunctionDescriptor.STATE) == FunctionDescriptor.STATE_EXPIRED;
    }
}
