package org.mdlagent.profiler.tier;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.shim.Memory;

/// What a thread may spend on measuring by itself. Machine code keeps to it: a function that becomes hot between
/// two looks of the agent is stopped by the thread that calls it. Functions whose tier is named are not.
public final class Allowance {
    /// Parts of a tick in which prices are told.
    private static final int PARTS = 256;

    /// A price stays unless it is wrong by so much.
    private static final double CHANGE = 1.25;

    private final long header;
    private final double budget;
    private double told;
    private long expired;

    public Allowance(long header, double budget) {
        this.header = header;
        this.budget = budget;
    }

    /// One thread may spend what all may, for it may be the only one that calls functions.
    ///
    /// @param pace CPU time of the program for each nanosecond that has passed
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

    /// A function's calls are recorded whatever they cost.
    public static void lift(long record) {
        new FunctionRecordWriter(record).addFlags(FunctionDescriptor.FLAG_NAMED);
    }

    /// Whether functions have been stopped since this was last asked.
    public boolean haveStopped() {
        long before = expired;
        expired = Memory.getLongAcquire(header + HeaderDescriptor.EXPIRED);
        return expired != before;
    }

    /// The same, asked again by the next call of it.
    public boolean wouldHaveStopped() {
        return Memory.getLongAcquire(header + HeaderDescriptor.EXPIRED) != expired;
    }

    public static boolean isStopped(long record) {
        return Memory.getIntAcquire(record + FunctionDescriptor.STATE) == FunctionDescriptor.STATE_EXPIRED;
    }
}
