package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.cpu.TmaxWait;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.ProbeClient;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.ProbeFilter;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Collector;
import org.mdlagent.profiler.slice.TimeSlices;
import org.mdlagent.runtime.metric.MetricRequest;
import org.mdlagent.runtime.metric.Metrics;
import org.mdlagent.runtime.options.AgentLog;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;
import org.mdlagent.runtime.options.SyncChoice;

/// The agent in the target process: the one Java class that the shim knows.
///
/// It runs entirely on the shim's agent thread; application threads never run Java.
public final class Agent {
    /// While the application opens or closes a library.
    private static final long TRY_NANOS = 100_000;

    private static final int FIRST_TRIES = 100;

    /// Collecting a smaller heap returns little memory.
    private static final long HEAP_BYTES_USUAL = 16L << 20;

    /// Poll interval for libraries loaded without a waiting thread, and for the counts of metrics; and without metrics.
    private static final long LOOK_NANOS = 100_000_000;

    private static final long LOOK_NANOS_UNMEASURED = 500_000_000;

    private final NativeApi api;
    private final AgentOptions options;
    private final AgentLog log;
    private final long header;
    private final CollectorChoice choice;

    /// Lines for the log.
    private final List<String> notes = new ArrayList<>();

    /// Openings of libraries that have been handled.
    private long followed;

    private boolean snippetsAreFreed = true;

    private Agent(NativeApi api, AgentOptions options, AgentLog log) {
        this.api = api;
        this.options = options;
        this.log = log;
        header = api.session();
        choice = new CollectorChoice(options);
    }

    /// Arms the probes and then profiles until the process ends. Called by the shim.
    ///
    /// @param table address of the shim's `struct mdl_api`
    /// @throws Exception if profiling is impossible; the shim then switches all probes off, and the application
    ///     continues
    static void start(long table) throws Exception {
        NativeApi api = new NativeApi(table);
        AgentLog log = new AgentLog(api.logPath());
        try {
            AgentOptions.Reading reading = readOptions(api.options());
            for (String problem : reading.problems()) {
                log.line("option ignored: " + problem);
            }
            new Agent(api, reading.options(), log).run();
        } catch (Throwable e) {
            log.line("no profile: " + e);
            for (StackTraceElement element : e.getStackTrace()) {
                log.line("    at " + element);
            }
            throw e;
        }
    }

    private static AgentOptions.Reading readOptions(String text) {
        return AgentOptions.read(
                AgentOptionsText.parse(text), System.getProperty("mdl.config"), System.getProperty("mdl.home"));
    }

    private void run() throws IOException {
        boolean exact = choice.isExact();
        Memory.putInt(
                header + HeaderDescriptor.FLAGS,
                Memory.getInt(header + HeaderDescriptor.FLAGS)
                        | (exact ? HeaderDescriptor.FLAG_EXACT : 0)
                        | (exact ? 0 : HeaderDescriptor.FLAG_MIXED)
                        | (options.profiling().cpuTime() ? HeaderDescriptor.FLAG_CPU_TIME : 0)
                        | (choice.isUnprofiled() ? HeaderDescriptor.FLAG_UNPROFILED : 0)
                        | options.profiling().collected().flags());
        Probes probes =
                new Probes(api, sync(), exact, choice.copied(), options.libraryFunctions(), new Filter(options), notes);
        api.renewClocks();
        Collector collector = choice.collector(api, probes, tscHz(), log);
        for (int tries = 0; !follow(probes, collector, true) && tries < FIRST_TRIES; tries++) {
            LockSupport.parkNanos(TRY_NANOS);
        }
        boolean probed = options.profiling().collected().hasProbes();
        if (!probed) {
            collector.open(List.of(), true);
        }
        api.followed(0);
        long armed = api.tsc();
        Memory.putLong(header + HeaderDescriptor.ARMED_TSC, armed);

        // Before main is released: it may end at once, without waiting for the agent.
        double millis = (armed - Memory.getLong(header + HeaderDescriptor.START_TSC)) / tscHz() * 1e3;
        log.line(probes.functionCount() + " functions, " + probes.siteCount() + " sites armed after "
                + Math.round(millis) + " ms, "
                + choice.mode()
                + (options.profiling().cpuTime() ? ", in CPU time" : ""));
        if (probes.functionCount() == 0 && probed) {
            log.line("nothing to measure yet: no instrumented code is loaded, or the filters exclude all of it");
        }
        Metrics metrics = new Metrics(
                probes, new ProbeClient(api), executable(), () -> choice.isUnprofiled() ? 0 : api.tsc() - armed);
        OnDemand onDemand = new OnDemand(probes, collector, options, () -> {
            boolean unused = follow(probes, collector, false);
        });
        enableMetrics(metrics, onDemand, probes);
        Detachment detachment =
                new Detachment(api, probes, collector, options.profiling().on());
        Control control = new Control(Map.of(
                "probes",
                detachment.refused(new ProbesCommand(probes, collector, onDemand)),
                "metric",
                detachment.refused(new MetricCommand(metrics, onDemand)),
                "agent",
                detachment));
        if (!options.profiling().collected().isTimed()) {
            resolveLines(probes, () -> {}); // tracefiles need them, also of a program that ends at once
        }
        api.ready();
        disableFromMain(metrics);
        Ticks ticks = new Ticks(collector);
        resolveLines(probes, ticks::goOnWhenDue);
        probes.keepFacts();
        giveBackMemory();
        if (choice.isSampled()) {
            logFunctions(probes, "exact", options.recording().all(), "every call of ");
            logFunctions(probes, "counted", options.recording().counted(), "every call is counted of ");
            logFunctions(probes, "sliced", options.recording().sliced(), "slices see the calls of ");
        }
        HotLibraries hot = new HotLibraries(header, probes, collector, onDemand, options, log);
        collect(probes, collector, ticks, exact, control, detachment, metrics, hot);
    }

    /// Frees what was read from ELF files to find functions: much of the heap.
    private static void giveBackMemory() {
        if (Runtime.getRuntime().totalMemory() > HEAP_BYTES_USUAL) {
            System.gc();
        }
    }

    private void logFunctions(Probes probes, String option, List<FunctionGlob> globs, String what) {
        for (FunctionGlob glob : globs) {
            int found = probes.functions(new Matching(glob)).size();
            log.line(option + "=" + glob + ": "
                    + (found == 0 ? "no function with probes matches so far" : what + found + " functions"));
        }
    }

    private String executable() {
        byte[] path = Memory.copy(header + HeaderDescriptor.PROGRAM, HeaderDescriptor.PROGRAM_BYTES);
        int length = 0;
        while (length < path.length && path[length] != 0) {
            length++;
        }
        return new String(path, 0, length, StandardCharsets.UTF_8);
    }

    /// Before main is released. An error in one does not stop the others.
    private void enableMetrics(Metrics metrics, OnDemand onDemand, Probes probes) {
        if (options.metrics().isEmpty()) {
            return;
        }
        resolveLines(probes, () -> {}); // modules are source files
        new MetricOptions(metrics, onDemand, log)
                .apply(options.metrics().files(), options.metrics().requests());
    }

    /// Skipped if `main` has waited, so its start is seen.
    private void disableFromMain(Metrics metrics) throws IOException {
        if ((Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_FROM_MAIN) == 0) {
            for (MetricRequest late : metrics.disableFromMain()) {
                log.line("metric " + late + " is not measured: main had begun; try: mdl run --metric " + late);
            }
        }
    }

    /// Handles libraries that the application has opened and closed; arms the new ones.
    ///
    /// @param whole whether none of their functions has been called yet
    /// @return false if the application is opening or closing a library now
    private boolean follow(Probes probes, Collector collector, boolean whole) throws IOException {
        boolean done = probes.follow();
        if (probes.haveOpened()) {
            collector.open(probes.openedFunctions(), whole);
        }
        logNotes();
        return done;
    }

    private void logNotes() {
        for (String note : notes) {
            log.line(note);
        }
        notes.clear();
    }

    private CoreSync sync() {
        api.renewClocks();
        SyncChoice choice = SyncChoice.of(
                options.sync(),
                CpuIdentity.ofProcess(api, tscHz()),
                Calibration.files(System.getProperty("mdl.state.home"), System.getProperty("mdl.home")));
        for (String line : choice.log()) {
            notes.add("sync: " + line);
        }
        if (choice.tmaxTicks() > 0) {
            Memory.putLong(header + HeaderDescriptor.TMAX, choice.tmaxTicks());
            Memory.putInt(header + HeaderDescriptor.SYNC, HeaderDescriptor.SYNC_TMAX);
            return new TmaxWait(api, choice.tmaxTicks());
        }
        Membarrier barrier = new Membarrier(api);
        try {
            barrier.await(barrier.ticket());
            Memory.putInt(header + HeaderDescriptor.SYNC, HeaderDescriptor.SYNC_MEMBARRIER);
        } catch (IllegalStateException e) {
            notes.add("sync: there is no membarrier either (" + e.getMessage()
                    + "): jumps stay where an atomic unit splits an entry; run mdl calibrate");
        }
        return barrier;
    }

    /// Slow, so `meanwhile` runs in between.
    private void resolveLines(Probes probes, Runnable meanwhile) {
        try {
            probes.resolveLines(meanwhile);
        } catch (IOException e) {
            log.line("source lines are not known: " + e.getMessage());
        }
    }

    /// The time of the profiler's next step.
    private static final class Ticks {
        private final Collector collector;
        private long due = System.nanoTime();

        Ticks(Collector collector) {
            this.collector = collector;
        }

        void goOn() {
            due = System.nanoTime() + (long) collector.tick();
        }

        void goOnWhenDue() {
            if (System.nanoTime() - due >= 0) {
                goOn();
            }
        }
    }

    /// Never returns; the process ends it.
    private void collect(
            Probes probes,
            Collector collector,
            Ticks ticks,
            boolean exact,
            Control control,
            Detachment detachment,
            Metrics metrics,
            HotLibraries hot)
            throws IOException {
        long look = System.nanoTime();
        TimeSlices slices =
                new TimeSlices(header, api::allocate, exact, options.profiling().sliceMillis(), tscHz());
        boolean writesSlices = true;
        while (true) {
            long next = metrics.areMeasured() ? Math.min(ticks.due, look) : ticks.due;
            if (writesSlices) {
                long now = System.nanoTime();
                next = now + Math.min(next - now, slices.nanosToEnd(api.tsc()));
            }
            followUntil(next, probes, collector, ticks, control, detachment, metrics);
            if (detachment.isDetached()) {
                followed = detachment.rest(control, followed);
                look = System.nanoTime();
                continue;
            }
            if (next >= look) {
                look = next + (metrics.areMeasured() ? LOOK_NANOS : LOOK_NANOS_UNMEASURED);
                if (follow(probes, collector, false)) {
                    api.followed(followed);
                    resolveLines(probes, ticks::goOnWhenDue);
                }
                freeSnippets(probes);
                observe(metrics::observe);
                hot.look();
            }
            ticks.goOnWhenDue();
            if (slices.isDue(api.tsc())) {
                long begin = api.threadNanos();
                writesSlices = collector.settle();
                if (writesSlices) {
                    slices.write(api.tsc());
                    slices.setWritingNanos(api.threadNanos() - begin);
                }
            }
        }
    }

    /// Frees code of removed snippets. Impossible without membarrier.
    private void freeSnippets(Probes probes) {
        try {
            probes.snippets().collect();
        } catch (IllegalStateException e) {
            if (snippetsAreFreed) {
                log.line("what snippets leave is not freed: " + e.getMessage());
            }
            snippetsAreFreed = false;
        }
    }

    private interface Observation {
        void run() throws IOException;
    }

    private void observe(Observation observation) {
        try {
            observation.run();
        } catch (IOException | IllegalStateException e) {
            log.line("metrics are not measured in all that the program has: " + e.getMessage());
        }
    }

    /// Sleeps; serves requests, and libraries whose opening threads wait for probes.
    private void followUntil(
            long nanoTime,
            Probes probes,
            Collector collector,
            Ticks ticks,
            Control control,
            Detachment detachment,
            Metrics metrics)
            throws IOException {
        control.serve(api);
        double urgent = collector.urgentNanos();
        for (long wait = nanoTime - System.nanoTime();
                wait > 0 && !detachment.isDetached();
                wait = nanoTime - System.nanoTime()) {
            long opened = api.awaitOpening((long) Math.clamp(urgent, 0, wait));
            control.serve(api);
            if (detachment.isDetached()) {
                return;
            }
            urgent = collector.urgentNanos();
            if (opened == followed) {
                if (urgent <= 0) {
                    ticks.goOn();
                    urgent = Double.POSITIVE_INFINITY;
                }
                continue;
            }
            if (follow(probes, collector, true)) {
                followed = opened;
                observe(metrics::follow);
                if (urgent <= 0) {
                    ticks.goOn();
                }
                api.followed(opened);
                resolveLines(probes, ticks::goOnWhenDue);
            } else {
                LockSupport.parkNanos(TRY_NANOS);
            }
        }
    }

    /// Frequency of the time-stamp counter from the header's two clock pairs.
    private double tscHz() {
        long ticks =
                Memory.getLong(header + HeaderDescriptor.NOW_TSC) - Memory.getLong(header + HeaderDescriptor.START_TSC);
        long nanos = Memory.getLong(header + HeaderDescriptor.NOW_MONO_NANOS)
                - Memory.getLong(header + HeaderDescriptor.START_MONO_NANOS);
        return ticks * 1e9 / Math.max(1, nanos);
    }

    private record Filter(AgentOptions options) implements ProbeFilter {
        @Override
        public boolean includes(String image, String file, String name) {
            return options.includes(image, file, name);
        }

        @Override
        public boolean includesAll() {
            return options.includesAll();
        }

        @Override
        public @Nullable Tier tier(String image, String file, String name) {
            return options.tier(image, file, name);
        }

        @Override
        public boolean names(String image) {
            return options.names(image);
        }

        @Override
        public boolean needsFiles() {
            return options.needsFiles();
        }
    }
}
