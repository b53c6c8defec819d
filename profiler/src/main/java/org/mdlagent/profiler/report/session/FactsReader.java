package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.time.Instant;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// Reads [SessionFacts].
final class FactsReader {
    private static final double PLAUSIBLE_HZ_MIN = 1e6;
    private static final double PLAUSIBLE_HZ_MAX = 1e11;

    private FactsReader() {}

    /// @param threads number of the program's threads
    static SessionFacts read(SessionBytes bytes, int threads) throws IOException {
        long startReal = bytes.getLong(HeaderDescriptor.START_REAL_NANOS);
        long endReal = bytes.getLong(HeaderDescriptor.END_REAL_NANOS);
        long nanos = monoNanos(bytes);
        OptionalLong elapsed = OptionalLong.empty();
        if (endReal > startReal) {
            elapsed = OptionalLong.of(endReal - startReal);
        } else if (nanos > 0) {
            elapsed = OptionalLong.of(nanos);
        }
        int status = bytes.getInt(HeaderDescriptor.EXIT_STATUS);
        int signal = bytes.getInt(HeaderDescriptor.EXIT_SIGNAL);
        boolean known = status >= 0 || signal > 0;
        return new SessionFacts(
                bytes.text(HeaderDescriptor.ID, HeaderDescriptor.ID_BYTES),
                new SessionFacts.MeasuredProcess(
                        bytes.text(HeaderDescriptor.PROGRAM, HeaderDescriptor.PROGRAM_BYTES),
                        bytes.getInt(HeaderDescriptor.PID),
                        new SessionFacts.ProcessStart(
                                bytes.text(HeaderDescriptor.BOOT, HeaderDescriptor.BOOT_BYTES),
                                bytes.getLong(HeaderDescriptor.START_TICKS)),
                        Instant.ofEpochSecond(0, startReal),
                        endReal == 0 ? null : Instant.ofEpochSecond(0, endReal),
                        known && signal == 0 ? OptionalInt.of(status) : OptionalInt.empty(),
                        known ? OptionalInt.of(signal) : OptionalInt.empty(),
                        threads),
                bytes.constant(SessionFacts.State.values(), HeaderDescriptor.STATE, "state"),
                new SessionFacts.Method(
                        Collected.of(bytes.getInt(HeaderDescriptor.FLAGS)),
                        isExact(bytes),
                        isCpuTime(bytes),
                        bytes.constant(SessionFacts.Sync.values(), HeaderDescriptor.SYNC, "synchronisation"),
                        budgetPercent(bytes)),
                new SessionFacts.Probes(
                        bytes.getLong(HeaderDescriptor.ARMED_TSC) != 0,
                        armedAfterNanos(bytes),
                        (bytes.getInt(HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_FROM_MAIN) != 0),
                new SessionFacts.Costs(
                        bytes.getCounter(HeaderDescriptor.AGENT_CPU_NANOS),
                        bytes.getCounter(HeaderDescriptor.PROGRAM_CPU_NANOS),
                        waited(bytes),
                        bytes.getCounter(HeaderDescriptor.TOGGLES),
                        bytes.getCounter(HeaderDescriptor.SAMPLES)),
                elapsed,
                tscHz(bytes));
    }

    private static OptionalLong armedAfterNanos(SessionBytes bytes) throws IOException {
        long armed = bytes.getLong(HeaderDescriptor.ARMED_TSC);
        OptionalDouble hz = tscHz(bytes);
        if (armed == 0 || hz.isEmpty()) {
            return OptionalLong.empty();
        }
        double ticks = armed - bytes.getLong(HeaderDescriptor.START_TSC);
        return OptionalLong.of(Math.round(Math.max(0, ticks) / hz.getAsDouble() * 1e9));
    }

    /// How long an ended program ran on after its calls were last estimated, relative to the time measured
    /// until then. 0 while it runs, and if nothing was estimated.
    static double untoldPart(SessionBytes bytes) throws IOException {
        long armed = bytes.getLong(HeaderDescriptor.ARMED_TSC);
        long estimated = bytes.getLong(HeaderDescriptor.CALLS_TSC);
        long end = bytes.getLong(HeaderDescriptor.NOW_TSC);
        boolean ended = bytes.getLong(HeaderDescriptor.END_REAL_NANOS) != 0;
        return ended && armed != 0 && estimated > armed && end > estimated
                ? (double) (end - estimated) / (estimated - armed)
                : 0;
    }

    static boolean isCpuTime(SessionBytes bytes) throws IOException {
        return (bytes.getInt(HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0;
    }

    private static double waited(SessionBytes bytes) throws IOException {
        double waited = bytes.getDouble(HeaderDescriptor.WAITED);
        if (!(waited >= 0 && waited < Double.POSITIVE_INFINITY)) {
            throw bytes.damaged("its threads have waited " + waited + " times their CPU time");
        }
        return waited;
    }

    private static OptionalDouble budgetPercent(SessionBytes bytes) throws IOException {
        double budget = bytes.getDouble(HeaderDescriptor.BUDGET);
        if (budget == 0) {
            return OptionalDouble.empty();
        }
        if (!(budget > 0 && budget <= 1)) {
            throw bytes.damaged("its budget is " + budget);
        }
        return OptionalDouble.of(100 * budget);
    }

    static boolean isExact(SessionBytes bytes) throws IOException {
        return (bytes.getInt(HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_EXACT) != 0;
    }

    /// The TSC frequency from the header's two clock pairs; empty if it is not plausible.
    private static OptionalDouble tscHz(SessionBytes bytes) throws IOException {
        long ticks = bytes.getLong(HeaderDescriptor.NOW_TSC) - bytes.getLong(HeaderDescriptor.START_TSC);
        long nanos = monoNanos(bytes);
        double hz = ticks > 0 && nanos > 0 ? ticks * 1e9 / nanos : 0;
        return hz >= PLAUSIBLE_HZ_MIN && hz <= PLAUSIBLE_HZ_MAX ? OptionalDouble.of(hz) : OptionalDouble.empty();
    }

    /// From the start to the last sign of life.
    private static long monoNanos(SessionBytes bytes) throws IOException {
        return bytes.getLong(HeaderDescriptor.NOW_MONO_NANOS) - bytes.getLong(HeaderDescriptor.START_MONO_NANOS);
    }
}
