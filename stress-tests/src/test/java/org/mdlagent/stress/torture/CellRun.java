package org.mdlagent.stress.torture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.cpu.TmaxWait;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.callpatch.SiteSwitch;
import org.mdlagent.stress.torture.Cell.Interference;
import org.mdlagent.stress.torture.Cell.Sync;
import org.mdlagent.wordpatch.PatchSite;
import org.mdlagent.wordpatch.WordPatch;

/// Runs one cell in this process: sites, executors, patchers, and their results.
final class CellRun {
    /// The paper's order of magnitude, far above any latency seen on the machines that this runs on.
    static final long TMAX_TICKS = 10_000;

    /// Frames of a stack trace in a result's line.
    private static final int FRAMES = 6;

    /// Minimum waits of a patch that waits at all.
    private static final int FIRST_STEPS = 6;

    /// Trap rows of a cell's instructions: a few for each site.
    private static final int COPIES_BYTES_MAX = 32 * 1024;

    private static final long LATE_NANOS_MAX = 10_000_000_000L;
    private static final long LOOK_NANOS = 5_000_000;
    private static final long JOIN_MILLIS = 300_000;

    private final Laboratory laboratory;
    private final Cell cell;
    private final CellResult result;
    private final Sites sites;

    /// What the patcher attaches to; null if it does not.
    private final @Nullable FileText text;

    private final InstructionSet instructions;
    private final Stops stops;
    private final Breakage breakage;
    private final int displacement;
    private final List<Executor> executors = new ArrayList<>();
    private final List<Patcher> patchers = new ArrayList<>();
    private final List<WordPatcher.Word> words = new ArrayList<>();
    private final long[] focuses;
    private volatile boolean over;

    CellRun(Laboratory laboratory, Cell cell, String name, Breakage breakage) throws IOException {
        this.laboratory = laboratory;
        this.cell = cell;
        result = new CellResult(name);
        displacement = breakage.displacement(cell.kind().displacement());
        sites = new Sites(laboratory, cell, displacement);
        text = cell.mode() == Cell.Mode.ATTACH ? new FileText(laboratory, sites.start(), sites.bytes()) : null;
        instructions = InstructionSet.ofAtomicUnit(cell.unit());
        CoreSync sync = cell.sync() == Sync.TMAX
                ? new TmaxWait(laboratory.api(), TMAX_TICKS)
                : new Membarrier(laboratory.api());
        long header = laboratory.api().session();
        boolean tmax = cell.sync() == Sync.TMAX;
        Memory.putLong(header + HeaderDescriptor.TMAX, tmax ? TMAX_TICKS : 0);
        Memory.putInt(
                header + HeaderDescriptor.SYNC, tmax ? HeaderDescriptor.SYNC_TMAX : HeaderDescriptor.SYNC_MEMBARRIER);
        this.breakage = breakage;
        stops = new Stops(breakage.writer(laboratory), breakage.sync(sync), this::executions);
        focuses = new long[cell.patchers()];
        for (int i = 0; i < focuses.length; i++) {
            focuses[i] = laboratory.allocate(Long.BYTES);
            Memory.putLong(focuses[i], -1);
        }
    }

    /// @param nanos  how long
    /// @param toggles of each split at least, however long it takes; 0 to go by time alone
    /// @param untilWrong whether to end when something is wrong
    CellResult run(long nanos, long toggles, boolean untilWrong) throws IOException {
        long trapsBefore = laboratory.trapHits();
        long start = System.nanoTime();
        // Most of the time runs without stops; in a short run each cell begins at another step.
        stops.limit(Math.max(2, nanos / (2 * Stops.STOP_NANOS)));
        stops.stopBefore(Math.floorMod(result.name().hashCode(), FIRST_STEPS));
        boolean fork = cell.interference() == Interference.FORK;
        startExecutors(fork ? cell.executors() - 1 : cell.executors(), 0);
        preparePatchers();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < patchers.size(); i++) {
            threads.add(startPatcher(patchers.get(i), i));
        }
        long deadline = start + nanos;
        if (fork) {
            // The child has only the present mappings: a thread redirected to a copy in a later mapping would die.
            // So all copies of the cell must fit in the present ones.
            long room = laboratory.arena().allocate(laboratory.targets().original(), COPIES_BYTES_MAX);
            laboratory.arena().free(room);
            LockSupport.parkNanos(nanos / 4);
            forkExecutor();
        }
        while (!isEnough(deadline, toggles)) {
            LockSupport.parkNanos(LOOK_NANOS);
            if (untilWrong && isWrong() || threads.stream().noneMatch(Thread::isAlive)) {
                break;
            }
        }
        over = true;
        threads.forEach(this::join);
        report(System.nanoTime() - start, laboratory.trapHits() - trapsBefore);
        return result;
    }

    /// On a busy machine the time may end before anything has happened.
    private boolean isEnough(long deadline, long toggles) {
        if (toggles > 0) {
            return fewestToggles() >= toggles && hasBegun();
        }
        long late = System.nanoTime() - deadline;
        return late >= 0 && (late > LATE_NANOS_MAX || fewestToggles() > 0 && sitesSeenInBothVersions() > 0);
    }

    /// Whether everything that the cell tests has happened at least once.
    private boolean hasBegun() {
        return executors.stream().allMatch(executor -> executor.executions() > 0)
                && sitesSeenInBothVersions() > 0
                && (cell.interference() != Interference.SIGNALS
                        || executors.stream().anyMatch(executor -> executor.signals() > 0))
                && (cell.interference() != Interference.STOPPED || stops.stops() > 0);
    }

    private void startExecutors(int count, int flags) {
        int interference = switch (cell.interference()) {
            case BLOCKED -> ExecutorDescriptor.FLAG_BLOCKED;
            case SIGNALS -> ExecutorDescriptor.FLAG_SIGNALS;
            default -> 0;
        };
        int cores = Runtime.getRuntime().availableProcessors();
        for (int i = 0; i < count; i++) {
            int number = executors.size();
            // From the last core downwards: patchers start on the first.
            int core = cell.pinned() ? Math.floorMod(cores - 1 - number, cores) : -1;
            long focus = focuses[number % focuses.length];
            executors.add(Executor.start(laboratory.library(), sites.executor(focus, core, flags | interference)));
        }
    }

    /// In a process that is attached to: a child has what is mapped at the fork.
    private void forkExecutor() {
        if (text == null) {
            startExecutors(1, ExecutorDescriptor.FLAG_IN_CHILD);
            return;
        }
        text.exclusively(() -> {
            breakage.attach(text);
            startExecutors(1, ExecutorDescriptor.FLAG_IN_CHILD);
        });
    }

    private void preparePatchers() throws IOException {
        if (cell.mode().isWordPatch()) {
            WordPatch wordPatch = new WordPatch(
                    laboratory.api(),
                    stops.writer(),
                    laboratory.code(),
                    laboratory.arena(),
                    laboratory.traps(),
                    stops.sync(),
                    breakage.trapMode(),
                    instructions);
            for (int i = 0; i < sites.count(); i++) {
                Sites.Site site = sites.list().get(i);
                for (Subject.Change change : site.subject().changes()) {
                    PatchSite place = wordPatch.site(site.address() + change.offset(), change.length());
                    String split = Sites.split(place.address(), place.length(), cell.unit());
                    words.add(new WordPatcher.Word(i, place, change, split));
                }
            }
            for (int i = 0; i < cell.patchers(); i++) {
                patchers.add(new WordPatcher(focuses[i], wordPatch, cell.mode(), stops, wordsOf(i)));
            }
        } else {
            CallPatch callPatch =
                    new CallPatch(stops.writer(), laboratory.code(), laboratory.arena(), stops.sync(), instructions);
            long[] stubs = install(callPatch);
            for (int i = 0; i < cell.patchers(); i++) {
                long indices = laboratory.allocate((long) stubs.length * Integer.BYTES);
                patchers.add(callPatcher(
                        i,
                        new CallPatcher.Work(
                                sites,
                                focuses[i],
                                callPatch,
                                breakage.toggle(laboratory),
                                stops,
                                laboratory.targets(),
                                stubs,
                                indices)));
            }
        }
    }

    /// The first one attaches and detaches; the others toggle all the time.
    private CallPatcher callPatcher(int number, CallPatcher.Work work) {
        if (text == null) {
            return new CallPatcher(work, cell.mode());
        }
        return number == 0 ? new AttachingPatcher(work, text, breakage) : new CallPatcher(work, Cell.Mode.TOGGLE_ALL);
    }

    /// All words, or one of each site if there are as many patchers as words of a site.
    private List<WordPatcher.Word> wordsOf(int patcher) {
        int perSite = words.size() / sites.count();
        if (cell.patchers() < perSite) {
            return words;
        }
        List<WordPatcher.Word> own = new ArrayList<>();
        for (int i = patcher % perSite; i < words.size(); i += perSite) {
            own.add(words.get(i));
        }
        return own;
    }

    /// Installs one site after the other while executors are at it; those that are to be retargeted are on then. Sites
    /// that are attached to are made in the copy.
    private long[] install(CallPatch callPatch) throws IOException {
        long header = laboratory.api().session();
        long table = laboratory.allocate(sites.count() * SiteDescriptor.SIZE);
        Memory.putLong(header + HeaderDescriptor.SITES, table);
        Memory.putInt(header + HeaderDescriptor.SITE_CAPACITY, sites.count());
        Memory.putInt(header + HeaderDescriptor.SITE_COUNT, sites.count());
        result.add("installed", sites.count());
        if (cell.kind().isPun()) {
            return new PunInstaller(
                            laboratory, instructions, displacement, cell.kind().isHeld(), breakage)
                    .install(sites, table);
        }
        SiteSwitch siteSwitch = new SiteSwitch(laboratory.api());
        long index = laboratory.allocate(Integer.BYTES);
        long[] stubs = new long[sites.count()];
        if (cell.interference() == Interference.STOPPED) {
            stops.stopThisThread();
        }
        for (int i = 0; i < stubs.length; i++) {
            SiteInstruction site = new SiteInstruction(
                    sites.list().get(i).address(), cell.kind().form(), SiteInstruction.Role.ENTRY, 0);
            stubs[i] = laboratory
                    .arena()
                    .allocate(site.address(), instructions.stubs().hookStubSize());
            byte[] stub = instructions
                    .stubs()
                    .hookStub(
                            site,
                            FrameKey.UNKNOWN,
                            0,
                            stubs[i],
                            laboratory.targets().stub());
            Targets.write(laboratory.code(), stubs[i], stub);
            PatchPlan plan = callPatch.plan(site, stubs[i]);
            new SiteRecordWriter(table + i * SiteDescriptor.SIZE)
                    .setToggle(laboratory.code().alias(plan.toggleAt()), plan);
            Memory.putLong(focuses[0], i);
            stops.begin();
            if (text == null) {
                callPatch.install(List.of(plan));
            } else {
                callPatch.prepare(plan);
            }
            if (cell.mode() == Cell.Mode.RETARGET) {
                Memory.putInt(index, i);
                long unused = siteSwitch.toggle(index, 1, true);
            }
        }
        return stubs;
    }

    private Thread startPatcher(Patcher patcher, int number) {
        return Thread.ofPlatform().name("patcher " + number).daemon().start(() -> {
            try {
                if (cell.interference() == Interference.STOPPED && number == 0) {
                    stops.stopThisThread();
                }
                while (!over) {
                    patcher.round();
                }
                patcher.finish();
                patcher.lookAt(-1);
            } catch (RuntimeException | Error e) {
                synchronized (result) {
                    result.fail("a patcher failed: " + e
                            + Arrays.stream(e.getStackTrace())
                                    .limit(FRAMES)
                                    .map(frame -> " < " + frame.getMethodName() + ":" + frame.getLineNumber())
                                    .collect(Collectors.joining()));
                }
            }
        });
    }

    private void join(Thread thread) {
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (thread.isAlive()) {
            result.fail(thread.getName() + " does not end");
        }
    }

    private long executions() {
        return executors.stream().mapToLong(Executor::executions).sum();
    }

    private boolean isWrong() {
        return executors.stream().anyMatch(executor -> executor.wrong() > 0 || text == null && executor.stalled() > 0);
    }

    private Map<String, Long> togglesBySplit() {
        Map<String, Long> bySplit = new TreeMap<>();
        patchers.forEach(patcher -> patcher.togglesBySplit().forEach((split, n) -> bySplit.merge(split, n, Long::sum)));
        return bySplit;
    }

    /// Toggles by split. Of two overlapping words, a single patcher of all at once patches only the first.
    private long fewestToggles() {
        return togglesBySplit().values().stream()
                .mapToLong(Long::longValue)
                .filter(toggles -> toggles > 0 || cell.kind() != Kind.OVERLAP)
                .min()
                .orElse(0);
    }

    private void report(long nanos, long traps) {
        for (Executor executor : executors) {
            if (!executor.join()) {
                boolean late = executor.endedWith() < 0;
                result.add(late ? "stalled" : "wrong", 1);
                result.tell(late ? "an executor does not go on" : "a child died, wait status " + executor.endedWith());
            }
            result.add("wrong", executor.wrong());
            if (executor.wrong() > 0) {
                Sites.Site site = sites.list().get(executor.wrongSite());
                result.tell("returned 0x" + Long.toHexString(executor.wrongValue()) + " at offset "
                        + (site.address() & 63) + ", split " + site.split());
            }
            // Where text comes and goes, executors take page faults, which wait for whoever changes mappings.
            result.add(text == null ? "stalled" : "explained", executor.stalled());
            if (executor.stalled() > 0 && text == null) {
                result.tell("a gap of " + executor.longestNanos() / 1_000_000 + " ms");
            }
            result.add("explained", executor.explained());
            result.add("signals", executor.signals());
            result.add("changes", executor.changes());
        }
        result.add("nanos", nanos);
        result.add("executions", executions());
        result.add(
                "longestGapMicros",
                executors.stream().mapToLong(Executor::longestNanos).max().orElse(0) / 1000);
        result.add("traps", traps);
        result.add("sites", sites.count());
        result.add("seenBoth", sitesSeenInBothVersions());
        togglesBySplit().forEach(result::addToggles);
        reportPatchers();
        if (result.get("wrong") == 0) {
            checkThatItTested();
        }
    }

    private void reportPatchers() {
        for (Patcher patcher : patchers) {
            result.add("contended", patcher.contentions());
            if (!patcher.rejection().isEmpty()) {
                result.fail("rejected: " + patcher.rejection());
            }
            if (patchers.size() == 1
                    && patcher instanceof WordPatcher only
                    && cell.kind() != Kind.OVERLAP
                    && !only.isAsWritten()) {
                result.fail("a site does not hold what was patched last");
            }
        }
        if (cell.kind() != Kind.OVERLAP && !words.stream().allMatch(WordPatcher.Word::isWhole)) {
            result.fail("a site holds neither of its words");
        }
        for (Patcher patcher : patchers) {
            if (patcher instanceof AttachingPatcher attaching) {
                result.add("attaches", attaching.attaches());
                if (attaching.alters()) {
                    result.fail("after a detach the text is not the file's");
                }
            }
        }
        if (cell.interference() == Interference.STOPPED) {
            result.add("stops", stops.stops());
            result.add("stoppedAtDifferentSteps", stops.differentSteps());
            result.add("fewestWhileStopped", stops.fewestMeanwhile());
        }
    }

    /// No wrong execution counts as success only if the executors have executed both versions.
    private void checkThatItTested() {
        if (executors.stream().anyMatch(executor -> executor.executions() == 0)) {
            result.fail("an executor has executed nothing");
        }
        if (result.get("toggles") == 0) {
            result.fail("nothing was toggled");
        }
        if (text != null && result.get("attaches") == 0) {
            result.fail("nothing was attached to");
        }
        if (result.get("seenBoth") == 0) {
            result.fail("executors have seen no site in both of its versions");
        }
        if (cell.interference() == Interference.SIGNALS && result.get("signals") == 0) {
            result.fail("no signal came");
        }
        if (cell.interference() == Interference.STOPPED && stops.stops() == 0) {
            result.fail("the patcher was never stopped");
        }
    }

    /// Sites that executors have seen in both versions.
    private long sitesSeenInBothVersions() {
        int other = cell.mode() == Cell.Mode.RETARGET ? 3 : 0;
        long seen = 0;
        for (int site = 0; site < sites.count(); site++) {
            int at = site;
            boolean both = executors.stream().anyMatch(executor -> executor.tally(at, 1) > 0)
                    && executors.stream().anyMatch(executor -> executor.tally(at, other) > 0);
            seen += both ? 1 : 0;
        }
        return seen;
    }
}
