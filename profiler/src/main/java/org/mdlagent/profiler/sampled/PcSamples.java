package org.mdlagent.profiler.sampled;

import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
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
/// [Tiers][org.mdlagent.profiler.tier.Tiers], and have their turns first ([Turns]).
final class PcSamples {
    /// Not in step with what programs do every ten milliseconds.
    static final long PERIOD_NANOS = 9_973_000;

    private static final double THREADS_NANOS = 1e9;

    private final NativeApi api;
    private final Probes probes;
    private final double ticksPerNano;
    private final Consumer<String> log;

    /// By id of thread.
    private final Map<Integer, PcSampler> samplers = new LinkedHashMap<>();

    /// `struct mdl_pc_samples`, 0 before the first thread is sampled.
    private long table;

    private boolean refused;
    private long threadsTsc;

    private final RecentShares recent = new RecentShares();
    private long shareTsc;

    /// Numbers of images by their paths.
    private final Map<String, Integer> images = new LinkedHashMap<>();

    /// @param log where it is said, once, why there are no samples
    PcSamples(NativeApi api, Probes probes, double ticksPerNano, Consumer<String> log) {
        this.api = api;
        this.probes = probes;
        this.ticksPerNano = ticksPerNano;
        this.log = log;
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        recent.grow(functions);
    }

    /// Takes what was sampled since the last look.
    void look() {
        if (refused && samplers.isEmpty()) {
            return;
        }
        long now = api.tsc();
        if (threadsTsc == 0 || now - threadsTsc > THREADS_NANOS * ticksPerNano) {
            threadsTsc = now;
            follow();
        }
        samplers.values().forEach(this::take);
    }

    /// Samples threads that have come, and no longer those that have ended.
    private void follow() {
        Set<Integer> live = new HashSet<>();
        LiveThreads.byProcess(api).values().forEach(live::addAll);
        Iterator<Map.Entry<Integer, PcSampler>> known = samplers.entrySet().iterator();
        while (known.hasNext()) {
            Map.Entry<Integer, PcSampler> one = known.next();
            if (!live.remove(one.getKey())) {
                take(one.getValue());
                one.getValue().close();
                known.remove();
            }
        }
        if (!refused) {
            open(live);
        }
    }

    /// Once it is refused for one, others stay sampled: there may be no more memory for rings.
    private void open(Set<Integer> threads) {
        try {
            for (int tid : threads) {
                PcSampler sampler = hasTable() ? PcSampler.open(api, tid, PERIOD_NANOS) : null;
                if (sampler != null) {
                    samplers.put(tid, sampler);
                }
            }
        } catch (IllegalStateException e) {
            refused = true;
            log.accept("CPU time is not sampled"
                    + (samplers.isEmpty() ? ": " : " of more than " + samplers.size() + " threads: ") + e.getMessage());
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
        Memory.addLong(table + PcSamplesDescriptor.LOST, lost);
    }

    private void count(long address) {
        Memory.addLong(table + PcSamplesDescriptor.SAMPLES, 1);
        Memory.addLong(counter(probes.codePlaces().at(address)), 1);
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
    IntToDoubleFunction shares() {
        if (table != 0) {
            long now = api.tsc();
            double nanos = (now - shareTsc) / ticksPerNano;
            shareTsc = now;
            recent.add(nanos, Memory.getLong(table + PcSamplesDescriptor.SAMPLES), i -> Memory.getLong(samples(i)));
        }
        return this::share;
    }

    /// A function's part of the program's CPU time in its own code, of late when [#shares] was called; 0 where
    /// little is known.
    double share(int function) {
        return recent.share(function);
    }
}
