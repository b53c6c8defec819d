package org.mdlagent.profiler.report.file;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;

/// The record of a function in a session.
///
/// @param at offset of the record
public record FunctionBytes(SessionBytes bytes, long at) {
    /// The record at an address of the owning process.
    public static FunctionBytes of(SessionBytes bytes, long address) throws IOException {
        return new FunctionBytes(bytes, bytes.offset(address, FunctionDescriptor.SIZE, "a function"));
    }

    /// Demangled name.
    public String name() throws IOException {
        FunctionNames.Found found = found();
        return found == null ? string(FunctionDescriptor.NAME) : found.name();
    }

    public String symbol() throws IOException {
        FunctionNames.Found found = found();
        return found == null ? string(FunctionDescriptor.SYMBOL) : found.symbol();
    }

    /// The name found for a function that was recorded without one, null if none.
    private FunctionNames.@Nullable Found found() throws IOException {
        FunctionNames names = bytes.names();
        if (names.equals(FunctionNames.NONE)) {
            return null;
        }
        long offset = FunctionNames.unnamed(image(), string(FunctionDescriptor.SYMBOL));
        return offset < 0 || build().isEmpty() ? null : names.find(image(), build(), offset);
    }

    /// Source file; null if unknown.
    @Nullable
    public String file() throws IOException {
        return bytes.getInt(at + FunctionDescriptor.FILE) == 0 ? null : string(FunctionDescriptor.FILE);
    }

    /// Source line; 0 if unknown.
    public int line() throws IOException {
        return Math.max(0, bytes.getInt(at + FunctionDescriptor.LINE));
    }

    public String image() throws IOException {
        return string(FunctionDescriptor.IMAGE);
    }

    /// Build id of the image, "" when it has none.
    public String build() throws IOException {
        return string(FunctionDescriptor.BUILD);
    }

    /// Start of its code, 0 when its library was closed.
    public long start() throws IOException {
        return bytes.getLong(at + FunctionDescriptor.ADDRESS);
    }

    /// End of its code.
    public long end() throws IOException {
        return start() + Integer.toUnsignedLong(bytes.getInt(at + FunctionDescriptor.CODE_SIZE));
    }

    public boolean isLeftOut() throws IOException {
        return hasFlag(FunctionDescriptor.FLAG_OFF);
    }

    public boolean isEveryCallRecorded() throws IOException {
        return hasFlag(FunctionDescriptor.FLAG_EVERY_CALL) && !isStopped();
    }

    /// Whether a thread has stopped a counted function and the agent has not looked since.
    public boolean isStopped() throws IOException {
        return bytes.getInt(at + FunctionDescriptor.STATE) == FunctionDescriptor.STATE_EXPIRED
                && !isSliced()
                && !isLeftOut();
    }

    /// Whether timed calls stand for more than the counted ones: also for calls between slices.
    public boolean isSliced() throws IOException {
        int mean = bytes.getInt(at + FunctionDescriptor.MEAN);
        return mean == 0 || (mean > 1 && bytes.getInt(at + FunctionDescriptor.WEIGHT) > mean);
    }

    /// Whether its probes have been on all the time.
    public boolean isWhole() throws IOException {
        return bytes.getInt(at + FunctionDescriptor.WHOLE) == 1;
    }

    /// Whether its probes were switched off on request in a session that records every call.
    public boolean isInterrupted() throws IOException {
        return bytes.getInt(at + FunctionDescriptor.WHOLE) == FunctionDescriptor.WHOLE_INTERRUPTED;
    }

    /// CPU time in which calls were not seen, divided by that in which they were.
    public double unseen() throws IOException {
        return getFloat(FunctionDescriptor.UNSEEN);
    }

    /// Estimated calls, without unseen ones.
    public double calls() throws IOException {
        return bytes.getDouble(at + FunctionDescriptor.CALLS);
    }

    public double callsVariance() throws IOException {
        return getFloat(FunctionDescriptor.CALLS_VARIANCE);
    }

    /// Address of its newest caller edge, 0 when none is known.
    public long callers() throws IOException {
        return bytes.getLong(at + FunctionDescriptor.CALLERS);
    }

    private double getFloat(long field) throws IOException {
        return Float.intBitsToFloat(bytes.getInt(at + field));
    }

    private boolean hasFlag(int flag) throws IOException {
        return (bytes.getInt(at + FunctionDescriptor.FLAGS) & flag) != 0;
    }

    private String string(long field) throws IOException {
        return bytes.string(bytes.getInt(at + field));
    }
}
