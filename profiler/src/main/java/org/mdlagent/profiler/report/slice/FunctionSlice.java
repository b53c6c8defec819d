package org.mdlagent.profiler.report.slice;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.profiler.report.file.SessionFormatException;

/// The measurements of a function in a time slice.
///
/// @param function  its index
/// @param calls     counted or estimated
/// @param variance  of an estimate
/// @param timed     calls that the durations stand for
/// @param ticks     of these calls
/// @param selfTicks of these calls without probed callees; exact sessions only
/// @param samples   timed calls; sampled sessions only
/// @param slots     with calls, in ascending order of duration
/// @param callers   sampled sessions only
public record FunctionSlice(
        int function,
        long calls,
        long variance,
        long timed,
        long ticks,
        long selfTicks,
        long samples,
        List<Slot> slots,
        List<Caller> callers) {

    /// Calls whose durations are in one group of [SliceDescriptor#SLOT] neighbouring slots of an
    /// HdrHistogram.
    public record Slot(int index, long calls) {}

    /// @param function index, or [EdgeSums#NONE]
    public record Caller(int function, long calls, long ticks, long samples) {}

    static FunctionSlice read(SliceNumbers numbers) throws SessionFormatException {
        return new FunctionSlice(
                numbers.function(),
                numbers.next(),
                numbers.next(),
                numbers.next(),
                numbers.next(),
                numbers.next(),
                numbers.next(),
                slots(numbers),
                callers(numbers));
    }

    private static List<Slot> slots(SliceNumbers numbers) throws SessionFormatException {
        List<Slot> slots = new ArrayList<>();
        int index = 0;
        for (int left = numbers.next(SliceDescriptor.SLOTS, "slots:"); left > 0; left--) {
            index += numbers.next(SliceDescriptor.SLOTS - 1 - index, "a slot that is farther than");
            slots.add(new Slot(index, numbers.next()));
        }
        return slots;
    }

    private static List<Caller> callers(SliceNumbers numbers) throws SessionFormatException {
        List<Caller> callers = new ArrayList<>();
        for (int left = numbers.next(EdgeDescriptor.CALLERS, "callers:"); left > 0; left--) {
            callers.add(new Caller(numbers.caller(), numbers.next(), numbers.next(), numbers.next()));
        }
        return callers;
    }
}
