package org.mdlagent.profiler.cpu;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntToDoubleFunction;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.PcImageDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.arch.shim.LiveThreads;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.shim.PcSampler;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.calls.CodePlaces;

/// Where the program's threads spend their CPU time in user mode, as a clock of the kernel's tells wherever that is
/// allowed: also in code without probes, and in calls that began before there were any.
///
/// Nothing rests on it, for many machines do not allow it. But functions that have much of the time are worth more to
/// [Tiers][org.mdlagent.profiler.tier.Tiers], and have their turns first.
public final class PcSamples {
    /// Not in step with what programs do every ten milliseconds.
    static final long PERIOD_NANOS = 9_973_000;

    private static final double THREADS_NANOS = 1e9;

    /// How often threads wait is asked of those that have come, and of all after so long.
    private static final double DUTY_NANOS = 10e9;

    private final NativeApi api;
    private final Probes probes;
    private final double ticksPerNano;
    private final Consumer<String> log;

    /// By id of thread.
    private final Map<Integer, PcSampler> samplers = new LinkedHashMap<>();

    /// `struct mdl_pc_samples`, 0 before the first thread is sampled.
    private long table;

    /// How many threads may be sampled at once, as far as is known.
    private int room = Integer.MAX_VALUE;

    private long threadsTsc;

    private final SplittableRandom random = new SplittableRandom();
    private final PcDuty duty = new PcDuty();
    private long dutyTsc;

    /// What threads had at the time when they were asked, by their ids.
    private Map<Integer, ScheduledTime> scheduled = new HashMap<>();

    /// How many a sample stands for that is taken now.
    private int weight = 1;

    private final RecentShares recent = new RecentShares();
    private long shareTsc;

    /// Numbers of images by their paths.
    private final Map<String, Integer> images = new LinkedHashMap<>();

    /// @param log where it is said, once, why there are no samples
    public PcSamples(NativeApi api, Probes probes, double ticksPerNano, Consumer<String> log) {
        this.api = api;
        this.probes = probes;
        this.ticksPerNano = ticksPerNano;
        this.log = log;
    }

    /// Makes room for functions that have come.
    public void grow(int functions) {
        recent.grow(functions);
    }

    /// Takes what was sampled since the last look.
    public void look() {
        if (room == 0) {
            return;
        }
        samplers.values().forEach(this::take);
        long now = api.tsc();
        if (threadsTsc == 0 || now - threadsTsc > THREADS_NANOS * ticksPerNano) {
            threadsTsc = now;
            int chosen = duty.weight();
            if (random.nextInt(chosen) == 0) {
                weight = chosen;
                follow(now);
            } else {
                keep(Set.of());
            }
        }
    }

    /// Samples threads that have come, and no longer those that have ended.
    private void follow(long now) {
        Set<Integer> live = new HashSet<>();
        LiveThreads.byProcess(api).values().forEach(live::addAll);
        keep(live);
        live.removeAll(samplers.keySet());
        open(live);
        learnDuty(now);
    }

    /// Others than these are sampled no longer.
    private void keep(Set<Integer> threads) {
        samplers.entrySet().removeIf(one -> {
            boolean ends = !threads.contains(one.getKey());
            if (ends) {
                take(one.getValue());
                one.getValue().close();
            }
            return ends;
        });
    }

    /// Once it is refused for one, others stay sampled: there may be no more memory for rings.
    private void open(Set<Integer> threads) {
        try {
            for (int tid : threads) {
                PcSampler sampler =
                        samplers.size() < room && hasTable() ? PcSampler.open(api, tid, PERIOD_NANOS) : null;
                if (sampler != null) {
                    samplers.put(tid, sampler);
                }
            }
        } catch (IllegalStateException e) {
            room = samplers.size();
            log.accept("CPU time is not sampled" + (room == 0 ? ": " : " of more than " + room + " threads: ")
                    + e.getMessage());
        }
    }

    private void learnDuty(long now) {
        boolean all = now - dutyTsc > DUTY_NANOS * ticksPerNano;
        if (all) {
            dutyTsc = now;
            duty.age();
        }
        Map<Integer, ScheduledTime> before = scheduled;
        scheduled = new HashMap<>();
        for (int tid : samplers.keySet()) {
            ScheduledTime then = before.get(tid);
            ScheduledTime known = all || then == null ? ScheduledTime.of(tid) : then;
            if (known != null) {
                ScheduledTime since = known.since(then);
                duty.add(since.nanos(), since.switches());
                scheduled.put(tid, known);
            }
        }
    }

    private boolean hasTable() {
        if (table == 0) {
            long header = api.session();
            long capacity = Memory.getInt(header + HeaderDescriptor.FUNCTION_CAPACITY);
            long made = api.allocate(PcSamplesDescriptor.SIZE + capacity * Long.BYTES);
            if (made == 0) {
                return false;
            }
            table = made;
            Memory.putLong(table + PcSamplesDescriptor.PERIOD_NANOS, PERIOD_NANOS);
            Memory.putLong(table + PcSamplesDescriptor.FUNCTIONS, table + PcSamplesDescriptor.SIZE);
            Memory.putLongRelease(header + HeaderDescriptor.PC_SAMPLES, table);
        }
        return true;
    }

    private void take(PcSampler sampler) {
        long lost = sampler.read(this::count);
        Memory.addLong(table + PcSamplesDescriptor.LOST, lost * weight);
    }

    private void count(long address) {
        Memory.addLong(table + PcSamplesDescriptor.SAMPLES, weight);
        Memory.addLong(table + PcSamplesDescriptor.SQUARES, (long) weight * weight);
        Memory.addLong(counter(probes.codePlaces().at(address)), weight);
    }

    /// Where samples of a place are counted.
    private long counter(CodePlaces.Place place) {
        return switch (place.function()) {
            case CodePlaces.OURS -> table + PcSamplesDescriptor.PROBES;
            case CodePlaces.NONE -> image(place.image());
            default -> samples(place.function());
        };
    }

    private long samples(int function) {
        return table + PcSamplesDescriptor.SIZE + (long) function * Long.BYTES;
    }

    /// The same of an image's other code.
    private long image(String path) {
        Integer number = path.isEmpty() ? null : images.get(path);
        if (number == null) {
            if (path.isEmpty() || images.size() == PcSamplesDescriptor.IMAGES_MAX) {
                return table + PcSamplesDescriptor.ELSEWHERE;
            }
            number = images.size();
            images.put(path, number);
            Memory.putInt(row(number) + PcImageDescriptor.PATH, probes.string(path));
            Memory.putLongRelease(table + PcSamplesDescriptor.IMAGE_COUNT, images.size());
        }
        return row(number) + PcImageDescriptor.SAMPLES;
    }

    private long row(int image) {
        return table + PcSamplesDescriptor.IMAGES + image * PcImageDescriptor.SIZE;
    }

    /// By function: [its share][#share], of late as of now.
    public IntToDoubleFunction shares() {
        if (table != 0) {
            long now = api.tsc();
            double nanos = (now - shareTsc) / ticksPerNano;
            shareTsc = now;
            long all = Memory.getLong(table + PcSamplesDescriptor.SAMPLES);
            recent.add(nanos, duty.weight(), all, i -> Memory.getLong(samples(i)));
        }
        return this::share;
    }

    /// A function's part of the program's CPU time in its own code, of late when [#shares] was called; 0 where
    /// little is known.
    public double share(int function) {
        return recent.share(function);
    }
}
