package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.SlicesDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.Confidence;
import org.mdlagent.profiler.ProbeCost;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.LatencyBuilder;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.ProbeSite;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.ThreadProfile;
import org.mdlagent.profiler.report.profile.TimedCall;

/// Reads a session file, whether its program still runs, ended, or was killed.
///
/// Assumes    A1 counters only grow, and an aligned word is read whole
///            A2 what a published pointer or count leads to was written before it
/// Guarantees G1 a damaged file leads to a [SessionFormatException]: no endless loop, no memory beyond some
///               multiple of the file's size, no other exception
///            G2 a call that was recorded before the reading began is in the result, with this exception: records
///               that the agent moves from a ring to a row meanwhile may be missed, or, if it dies between the two
///               steps, be counted twice Progress P1 the reader takes no lock and writes nothing: the program does
///               not notice it
public final class SessionReader implements AutoCloseable {
    /// Name of the session file in a session's directory.
    public static final String FILE_NAME = "session.mdl";

    private static final int THREADS_MAX = 1 << 20;
    private static final int PROCESSES_MAX = 1 << 16;
    private static final int METRICS_MAX = 1 << 16;
    private static final double PLAUSIBLE_HZ_MIN = 1e6;
    private static final double PLAUSIBLE_HZ_MAX = 1e11;
    private static final ProbeSite.Kind[] KINDS = ProbeSite.Kind.values();

    private final SessionBytes bytes;

    /// By offset. None is ever changed or moved.
    private final Map<Integer, String> strings = new HashMap<>();

    /// Those of the chunk of a histogram that is being read.
    private final long[] slots = new long[RowDescriptor.CHUNK_SLOTS];

    private SessionReader(SessionBytes bytes) {
        this.bytes = bytes;
    }

    /// Opens the session in a directory, or a session file.
    ///
    /// @throws SessionFormatException when there is none, when it belongs to somebody else, or when it is damaged
    public static SessionReader open(Path directoryOrFile) throws IOException {
        SessionBytes bytes = new SessionBytes(locate(directoryOrFile));
        try {
            bytes.refresh();
        } catch (IOException e) {
            bytes.close();
            throw e;
        }
        return new SessionReader(bytes);
    }

    /// The regular file that holds the session of a directory or behind its link: never one to which somebody else
    /// could have led us.
    ///
    /// @throws SessionFormatException when there is none, or it belongs to somebody else
    public static Path locate(Path directoryOrFile) throws IOException {
        Path file = Files.isDirectory(directoryOrFile) ? directoryOrFile.resolve(FILE_NAME) : directoryOrFile;
        try {
            int owner = owner(file);
            int self = owner(Path.of("/proc/self"));
            if (owner != self && self != 0) {
                throw new SessionFormatException(
                        file, "it belongs to another user (uid " + owner + ")", "read it as that user, or as root");
            }
            if (Files.isSymbolicLink(file)) {
                Path memory = Path.of("/dev/shm/mdl-" + owner);
                Path target = Files.readSymbolicLink(file);
                if (!memory.equals(target.getParent())
                        || !target.normalize().equals(target)
                        || !Files.isDirectory(memory, LinkOption.NOFOLLOW_LINKS)
                        || owner(memory) != owner) {
                    throw new SessionFormatException(
                            file,
                            "it is a link to " + target + ", where no session belongs",
                            "give the session file itself");
                }
                if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                    throw new SessionFormatException(
                            file,
                            "its data were in shared memory, which was cleared (by a restart, for instance)",
                            "run the program again");
                }
                if (owner(target) != owner) {
                    throw new SessionFormatException(
                            target, "it belongs to another user (uid " + owner(target) + ")", "remove it");
                }
                file = target;
            }
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new SessionFormatException(file, "it is not a regular file", "give a session's directory");
            }
            return file;
        } catch (NoSuchFileException e) {
            throw new SessionFormatException(file, "there is no session", "mdl list sessions shows those there are");
        }
    }

    private static int owner(Path path) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    /// What is recorded now, of all threads.
    public Profile profile() throws IOException {
        return profile((tid, process) -> true);
    }

    /// What is recorded now, of the threads whose id `wanted` accepts; only exact sessions know their threads' calls.
    public Profile profile(IntPredicate wanted) throws IOException {
        return profile((tid, process) -> wanted.test(tid));
    }

    /// What is recorded now, of one process; only exact sessions know their processes' calls.
    ///
    /// @return null when the functions that it called are not known: their counts are kept together with those of
    ///     other processes, or are gone with its threads' blocks
    public @Nullable Profile profileOfProcess(int pid) throws IOException {
        bytes.refresh();
        Set<Long> processes = new HashSet<>();
        long unassigned = 0;
        for (long at : processes()) {
            if (bytes.getInt(at + ProcessDescriptor.PID) == pid) {
                processes.add(at);
                unassigned += bytes.getCounter(at + ProcessDescriptor.CALLS);
            }
        }
        boolean apart = unassigned == 0 && !processes.isEmpty();
        for (long thread : threads()) {
            apart &= bytes.getInt(thread + ThreadDescriptor.SHARED) == 0 || !processes.contains(processOf(thread));
        }
        return apart ? profile((tid, process) -> processes.contains(process)) : null;
    }

    /// Which threads' blocks to read.
    private interface Wanted {
        boolean test(int tid, long process);
    }

    /// The slices of the session's time that it has kept, the oldest first: what is recorded since the last one has
    /// ended is not in them. None where the frequency of the clock is not known.
    public List<TimeSlice> slices() throws IOException {
        return slices(0);
    }

    /// Those of them that have this number, or a higher one.
    public List<TimeSlice> slices(long from) throws IOException {
        bytes.refresh();
        OptionalDouble tscHz = readFacts(0).tscHz();
        long slices = bytes.getLong(HeaderDescriptor.SLICES);
        if (slices == 0 || tscHz.isEmpty()) {
            return List.of();
        }
        bytes.claim(SlicesDescriptor.SIZE);
        return new SliceReader(
                        bytes,
                        bytes.offset(slices, SlicesDescriptor.SIZE, "the table of slices"),
                        1e9 / tscHz.getAsDouble(),
                        count(HeaderDescriptor.FUNCTION_COUNT, HeaderDescriptor.FUNCTION_CAPACITY, "functions"))
                .read(from);
    }

    /// What was recorded in some slices.
    ///
    /// @param slices of this session, in the order of time, one at least
    public Profile profile(List<TimeSlice> slices) throws IOException {
        Profile whole = profile();
        try {
            return new SliceSums(
                            slices, whole.functions().size(), whole.session().cpuTime())
                    .profile(whole);
        } catch (ArithmeticException e) {
            throw bytes.damaged("its slices of time are beyond all bounds");
        }
    }

    private Profile profile(Wanted wanted) throws IOException {
        try {
            bytes.refresh();
            return read(wanted);
        } catch (ArithmeticException e) {
            throw bytes.damaged("its counts are beyond all bounds");
        }
    }

    /// What the session says of itself now.
    public SessionFacts facts() throws IOException {
        bytes.refresh();
        return readFacts(bytes.getInt(HeaderDescriptor.THREAD_COUNT));
    }

    /// The session as it is compared with others.
    public RunProfile runProfile() throws IOException {
        Profile profile = profile();
        List<FunctionProfile> called =
                profile.functions().stream().filter(f -> f.calls() > 0).toList();
        return new RunProfile(Run.of(profile.session(), builds(profile.functions())), called);
    }

    /// The build ids of images that have one, by their paths.
    private Map<String, String> builds(List<FunctionProfile> functions) throws IOException {
        long at = bytes.getLong(HeaderDescriptor.FUNCTIONS);
        Map<String, String> builds = new TreeMap<>();
        for (int i = 0; i < functions.size(); i++) {
            long record = bytes.offset(at + i * FunctionDescriptor.SIZE, FunctionDescriptor.SIZE, "a function");
            String build = string(bytes.getInt(record + FunctionDescriptor.BUILD));
            if (!build.isEmpty()) {
                builds.put(functions.get(i).image(), build);
            }
        }
        return builds;
    }

    /// The process that recorded the session.
    public int pid() throws IOException {
        return bytes.getInt(HeaderDescriptor.PID);
    }

    /// The threads that have met a probe, the newest first.
    public List<ThreadProfile> threadProfiles() throws IOException {
        bytes.refresh();
        int count = count(HeaderDescriptor.FUNCTION_COUNT, HeaderDescriptor.FUNCTION_CAPACITY, "functions");
        int capacity = bytes.getInt(HeaderDescriptor.FUNCTION_CAPACITY);
        List<ThreadProfile> profiles = new ArrayList<>();
        for (long thread : threads()) {
            ByteBuffer calls = perFunction(thread + ThreadDescriptor.CALLS, capacity, count);
            long sum = 0;
            for (int i = 0; calls != null && i < count; i++) {
                sum += bytes.counted(calls.getLong(i * Long.BYTES));
            }
            profiles.add(new ThreadProfile(
                    bytes.getInt(thread + ThreadDescriptor.TID),
                    bytes.getInt(thread + ThreadDescriptor.PID),
                    bytes.getInt(thread + ThreadDescriptor.STATE) == ThreadDescriptor.STATE_LIVE,
                    sum,
                    bytes.getCounter(thread + ThreadDescriptor.CPU_NANOS)));
        }
        return profiles;
    }

    /// The last calls that were timed, thread by thread, as many as the rings of sampled sessions hold; none where
    /// durations are not known.
    public List<TimedCall> lastCalls() throws IOException {
        List<FunctionProfile> functions = profile().functions();
        bytes.refresh();
        SessionFacts facts = readFacts(0);
        if (facts.tscHz().isEmpty()) {
            return List.of();
        }
        double nanosPerTick = 1e9 / facts.tscHz().getAsDouble();
        double nanosPerUnit = facts.nanosPerUnit().orElse(0);
        long began = bytes.getLong(HeaderDescriptor.START_TSC);
        RingReader rings = new RingReader(bytes, functions.size());
        List<TimedCall> calls = new ArrayList<>();
        for (long thread : threads()) {
            int pid = bytes.getInt(thread + ThreadDescriptor.PID);
            int tid = bytes.getInt(thread + ThreadDescriptor.TID);
            rings.all(
                    thread,
                    (function, start, ticks, caller) -> calls.add(new TimedCall(
                            pid,
                            tid,
                            functions.get(function),
                            Math.round((start - began) * nanosPerTick),
                            Math.round(ticks * nanosPerUnit))));
        }
        return calls;
    }

    /// The metrics that are enabled now, in the order in which that was asked for.
    public List<MetricValue> metrics() throws IOException {
        bytes.refresh();
        return metrics(threads(), readFacts(0).tscHz());
    }

    private List<MetricValue> metrics(List<Long> threads, OptionalDouble tscHz) throws IOException {
        List<Long> records =
                list(HeaderDescriptor.METRICS, MetricDescriptor.NEXT, MetricDescriptor.SIZE, METRICS_MAX, "metrics");
        List<MetricValue> metrics = new ArrayList<>();
        MetricReader values = records.isEmpty() ? null : new MetricReader(bytes, threads, tscHz);
        for (long at : records.reversed()) {
            if (values != null && bytes.getInt(at + MetricDescriptor.STATE) == MetricDescriptor.STATE_ON) {
                String focus = string(bytes.getInt(at + MetricDescriptor.FOCUS));
                metrics.add(new MetricValue(
                        string(bytes.getInt(at + MetricDescriptor.ID)),
                        string(bytes.getInt(at + MetricDescriptor.NAME)),
                        string(bytes.getInt(at + MetricDescriptor.UNITS)),
                        constant(MetricValue.UnitsType.values(), at + MetricDescriptor.UNITS_TYPE, "type of units"),
                        focus.isEmpty() ? List.of() : List.of(focus.split("\n")),
                        values.amount(at),
                        values.seconds(at),
                        values.errors(at),
                        values.history(at)));
            }
        }
        return metrics;
    }

    /// The sites that are known now.
    public List<ProbeSite> sites() throws IOException {
        bytes.refresh();
        int count = count(HeaderDescriptor.SITE_COUNT, HeaderDescriptor.SITE_CAPACITY, "sites");
        if (count == 0) {
            return List.of();
        }
        long at =
                bytes.offset(bytes.getLong(HeaderDescriptor.SITES), count * SiteDescriptor.SIZE, "the table of sites");
        bytes.claim(count * SiteDescriptor.SIZE);
        List<ProbeSite> sites = new ArrayList<>(count);
        for (int i = 0; i < count; i++, at += SiteDescriptor.SIZE) {
            long function = bytes.getLong(at + SiteDescriptor.FUNCTION);
            String name = function == 0
                    ? ""
                    : string(bytes.getInt(
                            bytes.offset(function, FunctionDescriptor.SIZE, "a function") + FunctionDescriptor.NAME));
            int kind = bytes.getInt(at + SiteDescriptor.SIZE_AT)
                            >>> 8 * (int) (SiteDescriptor.KIND - SiteDescriptor.SIZE_AT)
                    & 0xff;
            if (kind >= KINDS.length) {
                throw bytes.damaged("a site has the unknown kind " + kind);
            }
            sites.add(new ProbeSite(
                    name,
                    KINDS[kind],
                    string(bytes.getInt(at + SiteDescriptor.IMAGE)),
                    bytes.getLong(at + SiteDescriptor.ADDRESS)));
        }
        return sites;
    }

    private Profile read(Wanted wanted) throws IOException {
        boolean allExact = (bytes.getInt(HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_EXACT) != 0;
        int count = count(HeaderDescriptor.FUNCTION_COUNT, HeaderDescriptor.FUNCTION_CAPACITY, "functions");
        int capacity = bytes.getInt(HeaderDescriptor.FUNCTION_CAPACITY);
        long table = count == 0
                ? 0
                : bytes.offset(
                        bytes.getLong(HeaderDescriptor.FUNCTIONS),
                        count * FunctionDescriptor.SIZE,
                        "the table of functions");
        bytes.claim(count * FunctionDescriptor.SIZE);

        LatencyBuilder[] latencies = new LatencyBuilder[count];
        long[] selfTicks = new long[count];
        long[] entered = new long[count];
        long[] samples = new long[count];
        boolean[] exact = new boolean[count];
        EdgeSums edges = new EdgeSums(count, isCpuTime());
        EdgeReader callers = new EdgeReader(bytes, edges, count);
        for (int i = 0; i < count; i++) {
            latencies[i] = new LatencyBuilder();
            exact[i] = allExact || hasFlag(table + i * FunctionDescriptor.SIZE, FunctionDescriptor.FLAG_EVERY_CALL);
            long address = bytes.getLong(table + i * FunctionDescriptor.SIZE + FunctionDescriptor.ROW);
            long row = address == 0 ? 0 : bytes.offset(address, RowDescriptor.SIZE, "a row");
            if (row != 0) {
                selfTicks[i] = Math.addExact(selfTicks[i], addRow(address, latencies[i]));
                samples[i] = bytes.getCounter(row + RowDescriptor.SAMPLES);
            }
            callers.read(i, row);
        }

        long dropped = 0;
        long unmatched = 0;
        List<Long> threads = threads();
        RingReader rings = new RingReader(bytes, count);
        CodeMap code = new CodeMap(bytes, table, count);
        Map<Long, Long> callsOfProcesses = new HashMap<>();
        for (long thread : threads) {
            long process = processOf(thread);
            ByteBuffer calls = perFunction(thread + ThreadDescriptor.CALLS, capacity, count);
            callsOfProcesses.merge(process, callsOfOwner(thread, calls), Math::addExact);
            if (!wanted.test(bytes.getInt(thread + ThreadDescriptor.TID), process)) {
                continue;
            }
            long withoutRoom = Math.addExact(
                    bytes.getCounter(thread + ThreadDescriptor.OVERFLOW),
                    bytes.getCounter(thread + ThreadDescriptor.REFUSED));
            dropped = Math.addExact(
                    dropped, Math.addExact(withoutRoom, bytes.getCounter(thread + ThreadDescriptor.DROPPED)));
            unmatched = Math.addExact(unmatched, bytes.getCounter(thread + ThreadDescriptor.UNMATCHED));
            addRows(thread, capacity, latencies, selfTicks);
            for (int i = 0; calls != null && i < count; i++) {
                entered[i] = Math.addExact(entered[i], bytes.counted(calls.getLong(i * Long.BYTES)));
            }
            rings.undrained(thread, (function, start, ticks, caller) -> {
                if (!exact[function]) {
                    latencies[function].add(ticks);
                    samples[function]++;
                }
                edges.add(function, code.callerAt(caller), 1, ticks, 1);
            });
        }
        long unseenThreads = bytes.getCounter(HeaderDescriptor.THREADS_REFUSED);
        boolean complete =
                unseenThreads == 0 && bytes.getInt(HeaderDescriptor.STATE) != HeaderDescriptor.STATE_AGENT_DEAD;

        SessionFacts facts = readFacts(threads.size());
        double nanosPerTick = facts.tscHz().isPresent() ? 1e9 / facts.tscHz().getAsDouble() : 0;
        double nanosPerUnit = facts.nanosPerUnit().orElse(0);
        List<FunctionProfile> functions = new ArrayList<>(count);
        double probeTicks = snippetTicks(threads);
        for (int i = 0; i < count; i++) {
            long at = table + i * FunctionDescriptor.SIZE;
            Latency latency = latencies[i].build(nanosPerUnit);
            probeTicks += exact[i] ? ProbeCost.exact(latency.count()) : ProbeCost.sampled(entered[i], samples[i]);
            probeTicks += ProbeCost.clock(facts.cpuTime(), exact[i] ? latency.count() : samples[i]);
            functions.add(
                    exact[i]
                            ? exactly(at, latency, entered[i], allExact ? selfTicks[i] * nanosPerUnit : -1, complete)
                            : estimated(at, latency, samples[i], entered[i], complete));
        }
        List<EdgeSums.Estimate> between = edges.estimates(functions);
        functions = edges.withSelf(functions, between, facts);
        return new Profile(
                facts,
                functions,
                dropped,
                unmatched,
                unseenThreads,
                family(facts, callsOfProcesses),
                Math.round(probeTicks * nanosPerTick),
                metrics(threads, facts.tscHz()),
                EdgeSums.join(functions, between));
    }

    /// What snippets have cost threads, as it is predicted for each of their runs.
    private double snippetTicks(List<Long> threads) throws IOException {
        double ticks = 0;
        for (long thread : threads) {
            long values = bytes.getLong(thread + ThreadDescriptor.VALUES);
            if (values != 0) {
                long size = (long) ValueDescriptor.COUNT * Long.BYTES;
                ticks += bytes.getLong(
                        bytes.offset(values, size, "a thread's values") + (long) ValueDescriptor.COST * Long.BYTES);
            }
        }
        return ticks;
    }

    private boolean hasFlag(long function, int flag) throws IOException {
        return (bytes.getInt(function + FunctionDescriptor.FLAGS) & flag) != 0;
    }

    /// Every call is counted when it begins, and timed when it returns, which some never do.
    ///
    /// @param selfNanos below 0 where others are sampled, so that callees are known by their edges alone
    private FunctionProfile exactly(long at, Latency latency, long counted, double selfNanos, boolean complete)
            throws IOException {
        return function(
                at,
                latency,
                latency.count(),
                Math.max(counted, latency.count()),
                complete,
                OptionalDouble.empty(),
                true,
                latency.totalNanos(),
                latency.known() && selfNanos >= 0 ? OptionalLong.of(Math.round(selfNanos)) : OptionalLong.empty());
    }

    /// Of a sampled function, the calls are an estimate, unless its window has been open all the time: then each was
    /// counted.
    private FunctionProfile estimated(long at, Latency latency, long samples, long counted, boolean complete)
            throws IOException {
        double estimate = bytes.getDouble(at + FunctionDescriptor.CALLS);
        double variance = bytes.getDouble(at + FunctionDescriptor.CALLS_VARIANCE);
        if (!(estimate >= 0 && estimate < Long.MAX_VALUE) || !(variance >= 0)) {
            throw bytes.damaged("an estimate of calls is " + estimate + " with variance " + variance);
        }
        boolean whole = complete && bytes.getInt(at + FunctionDescriptor.WHOLE) == 1;
        long calls = Math.max(whole ? counted : Math.max(Math.round(estimate), counted), samples);
        OptionalDouble error = Confidence.relativeError(variance, calls);
        return function(
                at, latency, samples, calls, whole, error, false, latency.totalNanosOf(calls), OptionalLong.empty());
    }

    private FunctionProfile function(
            long at,
            Latency latency,
            long sampled,
            long calls,
            boolean callsExact,
            OptionalDouble callsError,
            boolean exact,
            OptionalLong totalNanos,
            OptionalLong selfNanos)
            throws IOException {
        int file = bytes.getInt(at + FunctionDescriptor.FILE);
        return new FunctionProfile(
                string(bytes.getInt(at + FunctionDescriptor.NAME)),
                string(bytes.getInt(at + FunctionDescriptor.SYMBOL)),
                file == 0 ? null : string(file),
                Math.max(0, bytes.getInt(at + FunctionDescriptor.LINE)),
                string(bytes.getInt(at + FunctionDescriptor.IMAGE)),
                calls,
                callsExact,
                callsError,
                exact,
                sampled,
                totalNanos,
                selfNanos,
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                latency,
                !hasFlag(at, FunctionDescriptor.FLAG_OFF));
    }

    private List<Long> threads() throws IOException {
        return list(HeaderDescriptor.THREADS, ThreadDescriptor.NEXT, ThreadDescriptor.SIZE, THREADS_MAX, "threads");
    }

    private List<Long> processes() throws IOException {
        return list(
                HeaderDescriptor.PROCESSES, ProcessDescriptor.NEXT, ProcessDescriptor.SIZE, PROCESSES_MAX, "processes");
    }

    /// Offsets of the members of a list, the newest first.
    private List<Long> list(long head, long nextField, long size, int most, String what) throws IOException {
        List<Long> members = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        long next = bytes.getLong(head);
        while (next != 0) {
            long member = bytes.offset(next, size, "one of its " + what);
            if (!seen.add(member) || members.size() == most) {
                throw bytes.damaged("its list of " + what + " has no end");
            }
            bytes.claim(size);
            members.add(member);
            next = bytes.getLong(member + nextField);
        }
        return members;
    }

    /// Offset of the record of the process that had a thread's block last, 0 for none.
    private long processOf(long thread) throws IOException {
        long process = bytes.getLong(thread + ThreadDescriptor.PROCESS);
        return process == 0 ? 0 : bytes.offset(process, ProcessDescriptor.SIZE, "a process");
    }

    /// Those of the calls in a block that are not a former owner's.
    private long callsOfOwner(long thread, @Nullable ByteBuffer calls) throws IOException {
        long sum = -bytes.getCounter(thread + ThreadDescriptor.CREDITED);
        for (int i = 0; calls != null && i < calls.limit(); i += Long.BYTES) {
            sum = Math.addExact(sum, bytes.counted(calls.getLong(i)));
        }
        return Math.max(0, sum); // below 0 while the block is being handed on
    }

    private Profile.Family family(SessionFacts facts, Map<Long, Long> callsOfProcesses) throws IOException {
        List<ProcessProfile> processes = new ArrayList<>();
        for (long at : processes()) {
            if (bytes.getLong(at + ProcessDescriptor.STARTED_NANOS) != 0) {
                processes.add(process(at, facts, callsOfProcesses.getOrDefault(at, 0L)));
            }
        }
        processes.sort(Comparator.comparing(ProcessProfile::started));
        return new Profile.Family(
                processes,
                bytes.getCounter(HeaderDescriptor.PROCESSES_FORGOTTEN),
                bytes.getCounter(HeaderDescriptor.CALLS_FORGOTTEN));
    }

    private ProcessProfile process(long at, SessionFacts facts, long callsInBlocks) throws IOException {
        int pid = bytes.getInt(at + ProcessDescriptor.PID);
        int parent = bytes.getInt(at + ProcessDescriptor.PARENT);
        long calls = Math.addExact(bytes.getCounter(at + ProcessDescriptor.CALLS), callsInBlocks);
        long agents = bytes.getLong(HeaderDescriptor.AGENT_PROCESS);
        int state = bytes.getInt(at + ProcessDescriptor.STATE);
        int owner = bytes.getInt(at + ProcessDescriptor.OWNER);
        boolean runs = state != ProcessDescriptor.STATE_ENDED
                && (state == ProcessDescriptor.STATE_LEADERLESS
                        || owner != 0 && (owner & ProcessDescriptor.OWNER_DIED) == 0);
        if (agents != 0 && at == bytes.offset(agents, ProcessDescriptor.SIZE, "a process")) {
            return new ProcessProfile(
                    pid,
                    parent,
                    facts.started(),
                    facts.ended(),
                    facts.exitStatus(),
                    runs && facts.ended() == null,
                    true,
                    calls);
        }
        long ended = bytes.getLong(at + ProcessDescriptor.ENDED_NANOS);
        int status = bytes.getInt(at + ProcessDescriptor.EXIT_STATUS);
        return new ProcessProfile(
                pid,
                parent,
                Instant.ofEpochSecond(0, bytes.getLong(at + ProcessDescriptor.STARTED_NANOS)),
                ended == 0 ? null : Instant.ofEpochSecond(0, ended),
                status < 0 ? OptionalInt.empty() : OptionalInt.of(status),
                runs,
                false,
                calls);
    }

    /// A thread's table of one word per function, or null when there is none.
    private @Nullable ByteBuffer perFunction(long field, int capacity, int count) throws IOException {
        long address = bytes.getLong(field);
        if (address == 0 || count == 0) {
            return null;
        }
        long size = (long) capacity * Long.BYTES;
        long at = bytes.offset(address, size, "a thread's table of functions");
        bytes.claim(size);
        return bytes.copy(at, count * Long.BYTES);
    }

    private void addRows(long thread, int capacity, LatencyBuilder[] latencies, long[] selfTicks) throws IOException {
        ByteBuffer rows = perFunction(thread + ThreadDescriptor.ROWS, capacity, latencies.length);
        for (int i = 0; rows != null && i < latencies.length; i++) {
            long row = rows.getLong(i * Long.BYTES);
            if (row != 0) {
                selfTicks[i] = Math.addExact(selfTicks[i], addRow(row, latencies[i]));
            }
        }
    }

    /// Adds a row, and returns its ticks without probed callees.
    private long addRow(long address, LatencyBuilder latency) throws IOException {
        long row = bytes.offset(address, RowDescriptor.SIZE, "a row");
        bytes.claim(RowDescriptor.SIZE);
        long count = bytes.getCounter(row + RowDescriptor.COUNT);
        if (count == 0) {
            return 0;
        }
        long min = bytes.getLong(row + RowDescriptor.MIN);
        latency.addSums(
                count,
                bytes.getCounter(row + RowDescriptor.TOTAL),
                min < 0 ? Long.MAX_VALUE : min, // ~0: the first call is being recorded at this moment
                bytes.getCounter(row + RowDescriptor.MAX));
        for (int chunk = 0; chunk < RowDescriptor.CHUNKS; chunk++) {
            long pointer = bytes.getLong(row + RowDescriptor.CHUNKS_AT + (long) chunk * Long.BYTES);
            if (pointer != 0) {
                long size = (long) RowDescriptor.CHUNK_SLOTS * Long.BYTES;
                long at = bytes.offset(pointer, size, "a histogram");
                bytes.claim(size);
                bytes.getLongs(at, slots);
                for (int slot = 0; slot < slots.length; slot++) {
                    if (slots[slot] != 0) {
                        latency.addSlot(chunk * slots.length + slot, bytes.counted(slots[slot]));
                    }
                }
            }
        }
        return bytes.getCounter(row + RowDescriptor.SELF);
    }

    private SessionFacts readFacts(int threads) throws IOException {
        long startReal = bytes.getLong(HeaderDescriptor.START_REAL_NANOS);
        long endReal = bytes.getLong(HeaderDescriptor.END_REAL_NANOS);
        long ticks = bytes.getLong(HeaderDescriptor.NOW_TSC) - bytes.getLong(HeaderDescriptor.START_TSC);
        long nanos = bytes.getLong(HeaderDescriptor.NOW_MONO_NANOS) - bytes.getLong(HeaderDescriptor.START_MONO_NANOS);
        OptionalDouble hz = OptionalDouble.empty();
        if (ticks > 0 && nanos > 0) {
            double measured = ticks * 1e9 / nanos;
            if (measured >= PLAUSIBLE_HZ_MIN && measured <= PLAUSIBLE_HZ_MAX) {
                hz = OptionalDouble.of(measured);
            }
        }
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
                bytes.text(HeaderDescriptor.PROGRAM, HeaderDescriptor.PROGRAM_BYTES),
                bytes.getInt(HeaderDescriptor.PID),
                Instant.ofEpochSecond(0, startReal),
                endReal == 0 ? null : Instant.ofEpochSecond(0, endReal),
                known && signal == 0 ? OptionalInt.of(status) : OptionalInt.empty(),
                known ? OptionalInt.of(signal) : OptionalInt.empty(),
                elapsed,
                hz,
                constant(SessionFacts.State.values(), HeaderDescriptor.STATE, "state"),
                constant(SessionFacts.Sync.values(), HeaderDescriptor.SYNC, "synchronisation"),
                (bytes.getInt(HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_EXACT) != 0,
                bytes.getInt(HeaderDescriptor.SAMPLE_SIZE),
                bytes.getInt(HeaderDescriptor.EPOCH_MILLIS),
                threads,
                bytes.getCounter(HeaderDescriptor.AGENT_CPU_NANOS),
                bytes.getCounter(HeaderDescriptor.TOGGLES),
                bytes.getCounter(HeaderDescriptor.SAMPLES),
                bytes.getCounter(HeaderDescriptor.PROGRAM_CPU_NANOS),
                budgetPercent(),
                bytes.getLong(HeaderDescriptor.ARMED_TSC) != 0,
                isCpuTime());
    }

    private boolean isCpuTime() throws IOException {
        return (bytes.getInt(HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0;
    }

    private OptionalDouble budgetPercent() throws IOException {
        double budget = bytes.getDouble(HeaderDescriptor.BUDGET);
        if (budget == 0) {
            return OptionalDouble.empty();
        }
        if (!(budget > 0 && budget <= 1)) {
            throw bytes.damaged("its budget is " + budget);
        }
        return OptionalDouble.of(100 * budget);
    }

    private <E extends Enum<E>> E constant(E[] values, long field, String what) throws IOException {
        int value = bytes.getInt(field);
        if (value < 0 || value >= values.length) {
            throw bytes.damaged("it has the unknown " + what + " " + Integer.toUnsignedString(value));
        }
        return values[value];
    }

    private int count(long countField, long capacityField, String what) throws IOException {
        int count = bytes.getInt(countField);
        int capacity = bytes.getInt(capacityField);
        if (count < 0 || capacity < count) {
            throw bytes.damaged("it claims " + Integer.toUnsignedString(count) + " " + what + ", with room for "
                    + Integer.toUnsignedString(capacity));
        }
        return count;
    }

    private String string(int offset) throws IOException {
        if (offset == 0) {
            return "";
        }
        String known = strings.get(offset);
        if (known == null) {
            known = bytes.string(offset);
            strings.put(offset, known);
        }
        return known;
    }

    @Override
    public void close() throws IOException {
        bytes.close();
    }
}
