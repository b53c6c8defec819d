package org.mdlagent.profiler.cpu;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntToDoubleFunction;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;
import org.mdlagent.fastinst.Probes;

/// Where the program's threads spend their CPU time in user mode, and by which calls they have come there, as a
/// clock of
/// the kernel's tells wherever that is allowed: also in code without probes, and in calls that began before there
/// were
/// any.
///
/// Nothing else rests on it, for many machines do not allow it. But functions that have much of the time are
/// worth more
/// to [Tiers][org.mdlagent.profiler.tier.Tiers], and have their turns first.
public final class PcSamples {
    /// Not in step with what programs do every ten milliseconds: at a budget of 1 %, and without one.
    static final long PERIOD_NANOS = 9_973_000;

    private static final double PERIOD_BUDGET = 0.01;

    /// A larger budget takes more samples, up to five times as many: their errors are halved.
    private static final long PERIOD_NANOS_MIN = 1_999_000;

    private static final int TRIES = 10;

    private static final double LOOK_NANOS_MAX = 500e6;

    /// It is decided anew whether samples are taken.
    private static final double TURN_NANOS = 1e9;

    /// A clock that does not run is paid for at each switch as one that runs, nearly: so clocks are closed, unless
    /// there
    /// are more threads than can be opened again in little time, with a descriptor for each and processor.
    private static final int REOPENED_MAX = 64;

    /// How often threads wait is asked so often.
    private static final double DUTY_NANOS = 10e9;

    private final NativeApi api;
    private final PcSampler sampler;
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

    /// Samples of a processor until they are taken.
    private int room = 1;

    private boolean refusalTold;

    private long turnTsc;

    private final SplittableRandom random = new SplittableRandom();
    private final PcDuty duty = new PcDuty();
    private long dutyTsc;

    /// What threads had at the time when they were asked, by their ids.
    private Map<Integer, ScheduledTime> scheduled = new HashMap<>();

    /// How many a sample stands for that is taken now.
    private int weight = 1;

    private boolean on = true;

    /// Threads that were opened, their processes, and how many forks had begun by then.
    private int opened;

    private final Set<Integer> processes = new HashSet<>();
    private long forks;

    private final RecentShares recent = new RecentShares();
    private long shareTsc;

    /// @param log where it is said, once, why there are no samples
    public PcSamples(NativeApi api, Probes probes, double ticksPerNano, Consumer<String> log) {
        this.api = api;
        this.ticksPerNano = ticksPerNano;
        this.log = log;
        sampler = new PcSampler(api);
        frames = new CodeFrames(probes, sampler);
        double budget = Double.longBitsToDouble(Memory.getLong(api.session() + HeaderDescriptor.BUDGET));
        periodNanos = periodNanos(budget);
    }

    /// CPU time of a thread from one sample to the next.
    ///
    /// @param budget the part of the program's time that profiling may cost; 0 for none
    static long periodNanos(double budget) {
        return budget <= 0
                ? PERIOD_NANOS
                : Math.max(PERIOD_NANOS_MIN, Math.round(PERIOD_NANOS * Math.min(1, PERIOD_BUDGET / budget)));
    }

    /// Functions have come: code may be theirs that was nobody's.
    public void grow(int functions) {
        recent.grow(functions);
        frames.forget();
    }

    /// Takes what was sampled since the last look.
    ///
    /// @return nanoseconds until it wants to look again: rings of busy processors are half full then
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
            if (on && LiveThreads.anyForkedBefore(api, forks, processes)) {
                sampler.close();
                begin();
            }
        }
        if (turnTsc == 0 || now - turnTsc > TURN_NANOS * ticksPerNano) {
            turnTsc = now;
            turn(now);
        }
        return Math.min(LOOK_NANOS_MAX, room / 2.0 * periodNanos);
    }

    /// Opens all threads; what they create from then on inherits that. Of a thread that appears meanwhile nobody
    /// knows whether it has inherited anything, so all are opened anew; after some tries those of the last may be
    /// missed. A process that is just being forked shows only later: see [#look].
    private void begin() {
        try {
            List<LiveThreads> all = LiveThreads.all(api);
            for (int tries = 1; ; tries++) {
                open(all);
                forks = LiveThreads.forks(api);
                List<LiveThreads> now = LiveThreads.all(api);
                if (tries == TRIES || tids(all).containsAll(tids(now))) {
                    break;
                }
                sampler.close();
                all = now;
            }
            processes.clear();
            for (LiveThreads live : all) {
                processes.add(live.pid());
            }
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

    private void open(List<LiveThreads> all) {
        opened = 0;
        for (LiveThreads live : all) {
            for (int tid : live.threads()) {
                room = Math.max(room, sampler.open(tid, live.process(), periodNanos));
                opened++;
            }
        }
    }

    private static Set<Integer> tids(List<LiveThreads> all) {
        Set<Integer> tids = new HashSet<>();
        for (LiveThreads live : all) {
            tids.addAll(live.threads());
        }
        return tids;
    }

    /// Threads that rarely wait are sampled all the time, others in one second of so many.
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
            if (opened > REOPENED_MAX) {
                sampler.switchOn(on);
            } else if (on) {
                begin();
            } else {
                sampler.close();
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

    /// By function: [its share][#share], of late as of now.
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

    private static long samples(long table, int frame) {
        if (frame <= PcSampler.ELSEWHERE) {
            return 0;
        }
        long chunk = Memory.getLong(
                table + PcSamplesDescriptor.FRAMES + (long) frame / PcSamplesDescriptor.CHUNK * Long.BYTES);
        return Memory.getLong(
                chunk + frame % PcSamplesDescriptor.CHUNK * PcFrameDescriptor.SIZE + PcFrameDescriptor.SAMPLES);
    }

    /// A function's part of the program's CPU time in its own code, of late when [#shares] was called; 0 where
    /// little is known.
    public double share(int function) {
        return recent.share(function);
    }
}
