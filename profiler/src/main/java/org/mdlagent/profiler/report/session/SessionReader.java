package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SlicesDescriptor;
import org.mdlagent.profiler.report.file.FunctionNames;
import org.mdlagent.profiler.report.file.FunctionTable;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.file.ThreadBytes;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.FunctionSource;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SiteProfile;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.ThreadProfile;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.slice.SliceReader;
import org.mdlagent.profiler.report.slice.SliceSums;
import org.mdlagent.profiler.report.slice.TimeSlice;

/// Reads a session file, whether its program still runs, has ended, or was killed.
///
/// Assumes    A1 counters only grow, and an aligned word is read atomically
///            A2 the target of a published pointer or count was written before it
/// Guarantees G1 a damaged file leads to a [SessionFormatException]: no endless loop, no memory beyond some
///               multiple of the file's size, no other exception
///            G2 a call recorded before the read began is in the result, with one exception: records that the
///               agent moves from a ring to a row meanwhile may be missed or, if it dies between the two steps,
///               be counted twice
/// Progress   P1 the reader takes no lock and writes nothing: the program does not notice it
public final class SessionReader implements AutoCloseable {
    private final SessionBytes bytes;

    private SessionReader(SessionBytes bytes) {
        this.bytes = bytes;
    }

    /// Opens the session in a directory, or a session file.
    ///
    /// @throws SessionFormatException when there is none, when it belongs to another user, or when it is
    ///     damaged
    public static SessionReader open(Path directoryOrFile) throws IOException {
        return open(directoryOrFile, FunctionNames.NONE);
    }

    /// Opens the session in a directory, or a session file, with names for functions that were recorded
    /// without one.
    ///
    /// @throws SessionFormatException when there is none, when it belongs to another user, or when it is
    ///     damaged
    public static SessionReader open(Path directoryOrFile, FunctionNames names) throws IOException {
        SessionBytes bytes = new SessionBytes(directoryOrFile, names);
        try {
            bytes.refresh();
        } catch (IOException e) {
            bytes.close();
            throw e;
        }
        return new SessionReader(bytes);
    }

    /// The current profile, of all threads.
    public Profile profile() throws IOException {
        return profile(ProfileReader.Wanted.ALL);
    }

    /// The current profile of threads whose id `wanted` accepts; only exact sessions know their threads'
    /// calls.
    public Profile profile(IntPredicate wanted) throws IOException {
        return profile((tid, process) -> wanted.test(tid));
    }

    /// The current profile of one process; only exact sessions know their processes' calls.
    ///
    /// @return null when its functions are unknown: their counts are merged with those of other processes, or
    ///     are gone with its threads' blocks
    public @Nullable Profile profileOfProcess(int pid) throws IOException {
        bytes.refresh();
        FamilyReader family = new FamilyReader(bytes);
        List<Long> processes = family.offsetsOf(pid);
        long unassigned = 0;
        for (long at : processes) {
            unassigned += family.callsOutsideBlocks(at);
        }
        boolean apart = unassigned == 0 && !processes.isEmpty();
        for (ThreadBytes thread : ThreadBytes.all(bytes)) {
            apart &= !thread.isShared() || !processes.contains(thread.process());
        }
        return apart ? profile((tid, process) -> processes.contains(process)) : null;
    }

    /// The stored time slices, oldest first. Data recorded since the end of the last slice is not included.
    /// Empty if the clock's frequency is unknown.
    public List<TimeSlice> slices() throws IOException {
        return slices(0);
    }

    /// The stored time slices from number `from` on.
    public List<TimeSlice> slices(long from) throws IOException {
        bytes.refresh();
        OptionalDouble tscHz = FactsReader.read(bytes, 0).tscHz();
        long slices = bytes.getLong(HeaderDescriptor.SLICES);
        if (slices == 0 || tscHz.isEmpty()) {
            return List.of();
        }
        bytes.claim(SlicesDescriptor.SIZE);
        return new SliceReader(
                        bytes,
                        bytes.offset(slices, SlicesDescriptor.SIZE, "the table of slices"),
                        1e9 / tscHz.getAsDouble(),
                        new FunctionTable(bytes).count())
                .read(from);
    }

    /// The profile of some time slices.
    ///
    /// @param slices of this session, in the order of time, at least one
    public Profile profile(List<TimeSlice> slices) throws IOException {
        Profile whole = profile();
        try {
            return new SliceSums(slices, whole.functions().size()).profile(whole);
        } catch (ArithmeticException e) {
            throw bytes.damaged("its slices of time are beyond all bounds");
        }
    }

    private Profile profile(ProfileReader.Wanted wanted) throws IOException {
        try {
            bytes.refresh();
            return new ProfileReader(bytes).read(wanted);
        } catch (ArithmeticException e) {
            throw bytes.damaged("its counts are beyond all bounds");
        }
    }

    /// The session's own data now.
    public SessionFacts facts() throws IOException {
        bytes.refresh();
        return FactsReader.read(bytes, bytes.getInt(HeaderDescriptor.THREAD_COUNT));
    }

    /// The session in the form that comparisons use.
    public RunProfile runProfile() throws IOException {
        Profile profile = profile();
        List<FunctionProfile> called =
                profile.functions().stream().filter(f -> f.calls() > 0).toList();
        return new RunProfile(Run.of(profile.session(), builds(profile.functions())), called, profile.paths());
    }

    /// Build ids by image path, for images that have one.
    private Map<String, String> builds(List<FunctionProfile> functions) throws IOException {
        bytes.refresh();
        FunctionTable table = new FunctionTable(bytes);
        Map<String, String> builds = new TreeMap<>();
        for (int i = 0; i < functions.size(); i++) {
            String build = table.get(i).build();
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

    /// Process id of a wrapper, such as `timeout`, that executed the program and waits for it; 0 for none.
    public int wrapper() throws IOException {
        return bytes.getInt(HeaderDescriptor.WRAPPER);
    }

    /// Number of forks begun by the session's processes.
    public long forks() throws IOException {
        return bytes.getCounter(HeaderDescriptor.FORKS);
    }

    /// The threads that have met a probe, newest first.
    public List<ThreadProfile> threadProfiles() throws IOException {
        bytes.refresh();
        FunctionTable functions = new FunctionTable(bytes);
        List<ThreadProfile> profiles = new ArrayList<>();
        for (ThreadBytes thread : ThreadBytes.all(bytes)) {
            ByteBuffer calls = thread.calls(functions);
            long sum = 0;
            for (int i = 0; calls != null && i < functions.count(); i++) {
                sum += bytes.counted(calls.getLong(i * Long.BYTES));
            }
            profiles.add(new ThreadProfile(thread.tid(), thread.pid(), thread.isLive(), sum, thread.cpuNanos()));
        }
        return profiles;
    }

    /// The last calls that reported their callers, by thread, as many as the rings of sampled sessions hold.
    /// Empty if the clock's frequency is unknown.
    public List<TimedCall> lastCalls() throws IOException {
        List<FunctionProfile> functions = profile().functions();
        bytes.refresh();
        SessionFacts facts = FactsReader.read(bytes, 0);
        if (facts.tscHz().isEmpty()) {
            return List.of();
        }
        double nanosPerTick = 1e9 / facts.tscHz().getAsDouble();
        double nanosPerUnit = facts.nanosPerUnit().orElse(0);
        long began = bytes.getLong(HeaderDescriptor.START_TSC);
        RingReader rings = new RingReader(bytes, functions.size());
        Timing timed = (pid, tid, function, start, ticks) -> new TimedCall(
                pid,
                tid,
                functions.get(function),
                Math.round((start - began) * nanosPerTick),
                Math.round(ticks * nanosPerUnit));
        List<TimedCall> calls = new ArrayList<>();
        int ended = 0;
        for (ThreadBytes thread : ThreadBytes.all(bytes)) {
            ended--;
            rings.all(thread, add(calls, thread.pid(), ended, timed), add(calls, thread.pid(), thread.tid(), timed));
        }
        return calls;
    }

    private interface Timing {
        TimedCall call(int pid, int tid, int function, long startTsc, long ticks);
    }

    private static RingReader.Action add(List<TimedCall> calls, int pid, int tid, Timing timed) {
        return (function, start, ticks, caller) -> calls.add(timed.call(pid, tid, function, start, ticks));
    }

    /// The source lines of probed functions that samples of CPU time have met, functions with the most
    /// samples first.
    ///
    /// @param profile of this session
    public List<FunctionSource> sources(Profile profile) throws IOException {
        return new SourceReader(bytes.names(), profile.session().started())
                .read(profile, builds(profile().functions()));
    }

    /// The enabled metrics, in the order of their requests.
    public List<MetricValue> metrics() throws IOException {
        bytes.refresh();
        return MetricReader.all(
                bytes, ThreadBytes.all(bytes), FactsReader.read(bytes, 0).tscHz());
    }

    /// Functions without a probe, of images without compiled-in probes, and in sessions
    /// that count blocks those without such counts, as the agent's log beside the session states.
    public List<NotProbed> notProbed() throws IOException {
        return NotProbedReader.read(bytes.directory(), facts().collected().hasBlocks());
    }

    /// Basic blocks with their counts; empty in sessions that do not count them.
    ///
    /// @param profile of this session
    public List<FunctionBlocks> blocks(Profile profile) throws IOException {
        bytes.refresh();
        return new BlockReader(bytes, profile.functions()).read();
    }

    /// How often the event of a session of events came, and where.
    public EventCounts events() throws IOException {
        bytes.refresh();
        try {
            return facts().collected().hasProbes()
                    ? EventCounts.NONE
                    : new PcSamplesReader(bytes, List.of(), bytes.getLong(HeaderDescriptor.PC_SAMPLES)).events();
        } catch (ArithmeticException e) {
            throw bytes.damaged("its counts are beyond all bounds");
        }
    }

    /// The slow calls that the session keeps, as trees.
    ///
    /// @param profile of this session, of its whole time
    public SlowCall.All slowCalls(Profile profile) throws IOException {
        bytes.refresh();
        OptionalDouble tscHz = profile.session().tscHz();
        return tscHz.isEmpty()
                ? SlowCall.All.NONE
                : new SlowCallReader(bytes, profile.functions(), profile.paths().waits(), tscHz.getAsDouble() / 1e9)
                        .read();
    }

    /// Opens the ELF file of an image.
    ///
    /// @param profile of this session
    /// @return null if it is not the one that ran, by its build id, or has none
    public @Nullable ElfFile file(Profile profile, String image) throws IOException {
        ElfFile file = ElfFile.open(Path.of(image));
        String build = file.buildId();
        if (build != null && build.equals(builds(profile.functions()).get(image))) {
            return file;
        }
        file.close();
        return null;
    }

    /// The currently known sites.
    public List<SiteProfile> sites() throws IOException {
        bytes.refresh();
        return new SiteReader(bytes).read();
    }

    @Override
    public void close() throws IOException {
        bytes.close();
    }
}
