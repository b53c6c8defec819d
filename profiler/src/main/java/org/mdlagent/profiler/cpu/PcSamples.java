package org.mdlagent.profiler.cpu;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;
import org.mdlagent.fastinst.Probes;

/// Samples of the program's CPU time in user mode, with call paths: the kernel takes one per period of each thread's
/// CPU time. They also cover code without probes, and calls that began before the probes were in place.
///
/// Many machines forbid it, so nothing else depends on it. Where it is allowed,
/// [Tiers][org.mdlagent.profiler.tier.Tiers] prefers functions with a large share.
public final class PcSamples {
    /// Sampling period at a budget of 1 %, and without one: not in step with what programs do every ten milliseconds.
    static final long PERIOD_NANOS = 9_973_000;

    private static final double PERIOD_BUDGET = 0.01;

    /// Shortest period: a larger budget takes up to five times as many samples, which halves their errors.
    private static final long PERIOD_NANOS_MIN = 1_999_000;

    private static final double LOOK_NANOS_MAX = 1e9;

    /// Interval at which [#turn] decides whether samples are taken.
    private static final double TURN_NANOS = 1e9;

    /// With more threads than this, events are disabled and not closed. A disabled event costs nearly as much at a
    /// context switch as an enabled one, but opening takes a system call per thread and processor.
    private static final int REOPENED_MAX = 64;

    /// Interval at which [#learnDuty] reads how often threads wait.
    private static final double DUTY_NANOS = 10e9;

    private final NativeApi api;
    private final PcSampler sampler;
    private final OpenedThreads threads;
    private final CodeFrames frames;
    private final double ticksPerNano;
    private final Consumer<String> log;
    private final long periodNanos;

    private enum State {
        NOT_BEGUN,
        SAMPLES,
        REFUSED
    }

    private State state = State.NOT_BEGUN;

    /// Part of the samples in an image without probes from which on it is worth probes, and how many samples that
    /// takes.
    private static final double HOT_PART = 0.1;

    private static final int HOT_OF_MIN = 100;

    private boolean refusalTold;

    private long turnTsc;

    private final SplittableRandom random = new SplittableRandom();
    private final PcDuty duty = new PcDuty();
    private long dutyTsc;

    /// By thread id: scheduler statistics at the last [#learnDuty].
    private Map<Integer, ScheduledTime> scheduled = new HashMap<>();

    /// How many samples each one stands for.
    private int weight = 1;

    private boolean on = true;

    private final Waits waits;

    /// Null unless slow calls are kept.
    private final @Nullable StuckThreads stuck;

    private final RecentShares recent = new RecentShares();
    private long shareTsc;

    /// @param log gets the reason, once, if there are no samples
    public PcSamples(NativeApi api, Probes probes, double ticksPerNano, Consumer<String> log) {
        this.api = api;
        this.ticksPerNano = ticksPerNano;
        this.log = log;
        sampler = new PcSampler(api);
        frames = new CodeFrames(probes, sampler);
        waits = new Waits(api, sampler, frames, ticksPerNano);
        boolean slow = (Memory.getInt(api.session() + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_SLOW) != 0;
        stuck = slow ? new StuckThreads(api, ticksPerNano) : null;
        double budget = Double.longBitsToDouble(Memory.getLong(api.session() + HeaderDescriptor.BUDGET));
        periodNanos = periodNanos(budget);
        threads = new OpenedThreads(api, sampler, periodNanos);
    }

    /// Sampling period: CPU time of a thread between two samples.
    ///
    /// @param budget the part of the program's time that profiling may cost; 0 for none
    static long periodNanos(double budget) {
        return budget <= 0
                ? PERIOD_NANOS
                : Math.max(PERIOD_NANOS_MIN, Math.round(PERIOD_NANOS * Math.min(1, PERIOD_BUDGET / budget)));
    }

    /// There are new functions: code that belonged to none may be theirs.
    public void grow(int functions) {
        recent.grow(functions);
        frames.forget();
    }

    /// Takes the samples since the last look.
    ///
    /// @return nanoseconds until the next look, when rings of busy processors are half full
    public double look() {
        if (state == State.REFUSED) {
            return LOOK_NANOS_MAX;
        }
        long now = api.tsc();
        if (state == State.NOT_BEGUN) {
            begin();
        } else {
            frames.refresh();
            sampler.take(weight, frames::of);
            if (on && threads.lackFork()) {
                threads.close();
                begin();
            }
        }
        if (turnTsc == 0 || now - turnTsc > TURN_NANOS * ticksPerNano) {
            turnTsc = now;
            turn(now);
        }
        return Math.min(LOOK_NANOS_MAX, threads.room() / 2.0 * periodNanos);
    }

    /// Adds the threads' waiting times to the call paths on which they wait, when that is due.
    ///
    /// @return nanoseconds until it is due again
    public double lookAtWaits() {
        if (state != State.SAMPLES) {
            return LOOK_NANOS_MAX;
        }
        waits.look();
        return stuck == null ? LOOK_NANOS_MAX : stuck.look(waits::look);
    }

    /// No samples are taken until the next look.
    public void rest() {
        if (state == State.SAMPLES) {
            threads.close();
            on = true;
            state = State.NOT_BEGUN;
        }
    }

    private void begin() {
        try {
            threads.open();
            state = State.SAMPLES;
        } catch (IllegalStateException e) {
            boolean some = Memory.getLong(api.session() + HeaderDescriptor.PC_SAMPLES) != 0;
            state = some ? State.SAMPLES : State.REFUSED;
            if (!refusalTold) {
                refusalTold = true;
                log.accept("CPU time is not sampled" + (some ? " of all threads: " : ": ") + e.getMessage());
            }
        }
    }

    /// Threads that rarely wait are sampled all the time, others in one second of several.
    private void turn(long now) {
        if (now - dutyTsc > DUTY_NANOS * ticksPerNano) {
            dutyTsc = now;
            learnDuty();
        }
        int chosen = duty.weight();
        boolean wanted = random.nextInt(chosen) == 0;
        if (wanted) {
            weight = chosen;
        }
        if (wanted != on) {
            on = wanted;
            if (threads.opened() > REOPENED_MAX) {
                sampler.switchOn(on);
            } else if (on) {
                begin();
            } else {
                threads.close();
            }
        }
    }

    private void learnDuty() {
        duty.age();
        Map<Integer, ScheduledTime> before = scheduled;
        scheduled = new HashMap<>();
        for (LiveThreads live : LiveThreads.all(api)) {
            for (int tid : live.threads()) {
                ScheduledTime known = ScheduledTime.of(tid);
                if (known != null) {
                    ScheduledTime since = known.since(before.get(tid));
                    duty.add(since.nanos(), since.switches());
                    scheduled.put(tid, known);
                }
            }
        }
    }

    /// Updates the recent [shares][#share] of functions.
    public IntToDoubleFunction shares() {
        long table = Memory.getLong(api.session() + HeaderDescriptor.PC_SAMPLES);
        if (table != 0) {
            long now = api.tsc();
            double nanos = (now - shareTsc) / ticksPerNano;
            shareTsc = now;
            long all = Memory.getLong(table + PcSamplesDescriptor.SAMPLES);
            recent.add(nanos, duty.weight(), all, i -> samples(table, frames.ofFunction(i)));
        }
        return this::share;
    }

    /// The image in whose code without probes at least a tenth of all samples were; null while there are few samples.
    public @Nullable String hotImage() {
        long table = Memory.getLong(api.session() + HeaderDescriptor.PC_SAMPLES);
        long all = table == 0 ? 0 : Memory.getLong(table + PcSamplesDescriptor.SAMPLES);
        return all < HOT_OF_MIN ? null : frames.hottest(frame -> samples(table, frame), HOT_PART * all);
    }

    private static long samples(long table, int frame) {
        if (frame <= PcSampler.ELSEWHERE) {
            return 0;
        }
        long chunk = Memory.getLong(
                table + PcSamplesDescriptor.FRAMES + (long) frame / PcSamplesDescriptor.PC_CHUNK * Long.BYTES);
        return Memory.getLong(
                chunk + frame % PcSamplesDescriptor.PC_CHUNK * PcFrameDescriptor.SIZE + PcFrameDescriptor.SAMPLES);
    }

    /// A function's recent share of the program's CPU time, in its own code, as of the last call of [#shares]; 0 where
    /// little is known.
    public double share(int function) {
        return recent.share(function);
    }
}
