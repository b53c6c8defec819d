package org.mdlagent.profiler.report.session;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.mdlagent.arch.layout.ArcDescriptor;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.EdgeDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.PcFrameDescriptor;
import org.mdlagent.arch.layout.PcNodeDescriptor;
import org.mdlagent.arch.layout.PcSampleDescriptor;
import org.mdlagent.arch.layout.PcSamplesDescriptor;
import org.mdlagent.arch.layout.PcThreadDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;
import org.mdlagent.arch.layout.ProcessLife;
import org.mdlagent.arch.layout.RecordDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.SliceChunkDescriptor;
import org.mdlagent.arch.layout.SliceDescriptor;
import org.mdlagent.arch.layout.SliceRows;
import org.mdlagent.arch.layout.SlicesDescriptor;
import org.mdlagent.arch.layout.SlowCallDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.arch.layout.SlowWaitDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.site.SiteKind;
import org.mdlagent.profiler.report.file.SessionFile;

/// A session file as the agent would have written it, built in memory. One tick is one nanosecond.
///
/// Histograms are filled through the library, whose buckets are the independent truth for ours.
public final class SessionImage {
    private final List<long[]> figures = new ArrayList<>();
    static final long BASE = 0x7f12_3456_7000L;
    static final int PID = 4711;

    private static final int CAPACITY = 8;
    private static final int SITE_CAPACITY = 8;
    private static final long SECOND = 1_000_000_000L;

    private final ByteBuffer bytes = ByteBuffer.allocate(1 << 22).order(ByteOrder.LITTLE_ENDIAN);
    private final long functions;
    private final long sites;
    private int next = (int) HeaderDescriptor.SIZE;

    public SessionImage() {
        putLong(HeaderDescriptor.MAGIC_AT, HeaderDescriptor.MAGIC);
        putInt(HeaderDescriptor.VERSION_AT, HeaderDescriptor.VERSION);
        putInt(HeaderDescriptor.HEADER_SIZE, (int) HeaderDescriptor.SIZE);
        putLong(HeaderDescriptor.BASE, BASE);
        putInt(HeaderDescriptor.PID, PID);
        putInt(HeaderDescriptor.STATE, HeaderDescriptor.STATE_ARMED);
        putLong(HeaderDescriptor.START_TSC, 5_000);
        putLong(HeaderDescriptor.START_MONO_NANOS, 77);
        putLong(HeaderDescriptor.START_REAL_NANOS, 1_700_000_000 * SECOND);
        putLong(HeaderDescriptor.NOW_TSC, 5_000 + 2 * SECOND);
        putLong(HeaderDescriptor.NOW_MONO_NANOS, 77 + 2 * SECOND);
        putInt(HeaderDescriptor.EXIT_STATUS, -1);
        putLong(HeaderDescriptor.ARMED_TSC, 5_000);
        putText(HeaderDescriptor.PROGRAM, "/opt/app/bin/app");
        putText(HeaderDescriptor.ID, "app-4711-20231114T221320");
        functions = allocate(CAPACITY * FunctionDescriptor.SIZE);
        putLong(HeaderDescriptor.FUNCTIONS, address(functions));
        putInt(HeaderDescriptor.FUNCTION_CAPACITY, CAPACITY);
        sites = allocate(SITE_CAPACITY * SiteDescriptor.SIZE);
        putLong(HeaderDescriptor.SITES, address(sites));
        putInt(HeaderDescriptor.SITE_CAPACITY, SITE_CAPACITY);
    }

    static long address(long offset) {
        return BASE + offset;
    }

    /// Where figures of single functions are, each as its offset and size.
    List<long[]> figures() {
        List<long[]> all = new ArrayList<>(figures);
        for (int i = 0; i < bytes.getInt((int) HeaderDescriptor.FUNCTION_COUNT); i++) {
            all.add(new long[] {functionAt(i), FunctionDescriptor.SIZE});
        }
        return all;
    }

    private long allocateFigures(long size) {
        long at = allocate(size);
        figures.add(new long[] {at, size});
        return at;
    }

    long allocate(long size) {
        int at = next;
        next += (int) (size + 63) / 64 * 64;
        putLong(HeaderDescriptor.ARENA_NEXT, next);
        putLong(HeaderDescriptor.ARENA_END, (next + 4095) / 4096 * 4096L);
        return at;
    }

    public SessionImage exact() {
        putInt(HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_EXACT);
        return this;
    }

    /// Adds a function without calls; returns its index.
    public int function(String name, String symbol, String file, int line, String image) {
        int index = bytes.getInt((int) HeaderDescriptor.FUNCTION_COUNT);
        long at = functions + index * FunctionDescriptor.SIZE;
        putLong(at + FunctionDescriptor.ADDRESS, 0x401000 + index);
        putInt(at + FunctionDescriptor.INDEX, index);
        putInt(at + FunctionDescriptor.MEAN, 1);
        putInt(at + FunctionDescriptor.NAME, string(name));
        putInt(at + FunctionDescriptor.SYMBOL, string(symbol));
        putInt(at + FunctionDescriptor.FILE, file.isEmpty() ? 0 : string(file));
        putInt(at + FunctionDescriptor.LINE, line);
        putInt(at + FunctionDescriptor.IMAGE, string(image));
        putInt(HeaderDescriptor.FUNCTION_COUNT, index + 1);
        return index;
    }

    public int function(String name) {
        return function(name, "_Z" + name, "/src/" + name + ".c", 10, "/opt/app/bin/app");
    }

    public long functionAt(int index) {
        return functions + index * FunctionDescriptor.SIZE;
    }

    /// Makes it a session that keeps slow calls; returns the offset of their table.
    ///
    /// @param threshold in ns, 0: each function's own
    public long slowCalls(long threshold) {
        long table = allocate(SlowCallsDescriptor.SIZE);
        putInt(HeaderDescriptor.FLAGS, bytes.getInt((int) HeaderDescriptor.FLAGS) | HeaderDescriptor.FLAG_SLOW);
        putLong(HeaderDescriptor.SLOW, address(table));
        putLong(table + SlowCallsDescriptor.THRESHOLD, threshold);
        putLong(
                table + SlowCallsDescriptor.LOG,
                address(allocate(SlowCallDescriptor.SLOW_LOG * SlowCallDescriptor.SIZE)));
        putLong(
                table + SlowCallsDescriptor.WAITS,
                address(allocate(SlowCallDescriptor.SLOW_WAITS * SlowWaitDescriptor.SIZE)));
        return table;
    }

    /// Adds a record to the log, of a thread of the session's process. Times are in ns since the session began.
    ///
    /// @param limit from which on it was slow
    /// @param cpu   upper bound of the CPU time; below 0: unknown
    public void slowCall(long table, int tid, int function, long start, long end, long limit, long cpu) {
        long next = bytes.getLong((int) (table + SlowCallsDescriptor.NEXT));
        long log = bytes.getLong((int) (table + SlowCallsDescriptor.LOG)) - BASE;
        long at = log + next % SlowCallDescriptor.SLOW_LOG * SlowCallDescriptor.SIZE;
        putLong(at + SlowCallDescriptor.START, 5_000 + start);
        putLong(at + SlowCallDescriptor.END, 5_000 + end);
        putLong(at + SlowCallDescriptor.LIMIT, limit);
        putLong(at + SlowCallDescriptor.ON_CPU, Math.max(0, cpu));
        putLong(at + SlowCallDescriptor.LAG, cpu < 0 ? -1 : 500);
        putInt(at + SlowCallDescriptor.FUNCTION, function);
        putInt(at + SlowCallDescriptor.TID, tid);
        putInt(at + SlowCallDescriptor.PID, PID);
        putInt(at + SlowCallDescriptor.SEQ, (int) next + 1);
        putLong(table + SlowCallsDescriptor.NEXT, next + 1);
        long slow = bytes.getLong((int) (table + SlowCallsDescriptor.SLOW));
        putLong(table + SlowCallsDescriptor.SLOW, slow + (limit > 0 && end - start >= limit ? 1 : 0));
    }

    long slowLogAt(long table) {
        return bytes.getLong((int) (table + SlowCallsDescriptor.LOG)) - BASE;
    }

    /// Adds a wait.
    public void slowWait(long table, int tid, int node, long since, long until) {
        long count = bytes.getLong((int) (table + SlowCallsDescriptor.WAIT_COUNT));
        long waits = bytes.getLong((int) (table + SlowCallsDescriptor.WAITS)) - BASE;
        long at = waits + count % SlowCallDescriptor.SLOW_WAITS * SlowWaitDescriptor.SIZE;
        putLong(at + SlowWaitDescriptor.SINCE, 5_000 + since);
        putLong(at + SlowWaitDescriptor.UNTIL, 5_000 + until);
        putInt(at + SlowWaitDescriptor.NODE, node);
        putInt(at + SlowWaitDescriptor.TID, tid);
        putInt(at + SlowWaitDescriptor.PID, PID);
        putLong(table + SlowCallsDescriptor.WAIT_COUNT, count + 1);
    }

    /// What the agent knows of a sampled function whose probes are off.
    public void estimate(int function, double calls, double variance) {
        long at = functionAt(function);
        putInt(at + FunctionDescriptor.STATE, FunctionDescriptor.STATE_EXPIRED);
        putInt(at + FunctionDescriptor.MEAN, 0);
        putDouble(at + FunctionDescriptor.CALLS, calls);
        putInt(at + FunctionDescriptor.CALLS_VARIANCE, Float.floatToRawIntBits((float) variance));
    }

    /// What it knows of one whose probes were never off.
    void open(int function) {
        long at = functionAt(function);
        putInt(at + FunctionDescriptor.STATE, FunctionDescriptor.STATE_SAMPLING);
        putInt(at + FunctionDescriptor.WHOLE, 1);
    }

    /// Adds to the calls that a thread has entered.
    public void count(long thread, int function, long calls) {
        long counts = bytes.getLong((int) (thread + ThreadDescriptor.CALLS)) - BASE;
        if (counts < 0) {
            counts = allocateFigures(CAPACITY * (long) Long.BYTES);
            putLong(thread + ThreadDescriptor.CALLS, address(counts));
        }
        int at = (int) (counts + (long) function * Long.BYTES);
        putLong(at, bytes.getLong(at) + calls);
    }

    /// Adds a table of basic blocks, which threads have no counts of; returns its first row.
    public long blocks(int count) {
        long header = allocate(BlocksDescriptor.SIZE);
        long table = allocate(count * BlockDescriptor.SIZE);
        putInt(header + BlocksDescriptor.CAPACITY, count);
        putInt(header + BlocksDescriptor.COUNT, count);
        putInt(header + BlocksDescriptor.BLOCK_CAPACITY, count);
        putInt(header + BlocksDescriptor.BLOCK_COUNT, count);
        putLong(header + BlocksDescriptor.TABLE, address(table));
        putLong(HeaderDescriptor.BLOCKS, address(header));
        return table;
    }

    /// Adds arcs to the blocks, each of five numbers: blocks from and to, kind, counter, target.
    ///
    /// @return the first one's offset
    public long arcs(int[]... arcs) {
        long header = bytes.getLong((int) HeaderDescriptor.BLOCKS) - BASE;
        long table = allocate(arcs.length * ArcDescriptor.SIZE);
        for (int i = 0; i < arcs.length; i++) {
            for (int field = 0; field < arcs[i].length; field++) {
                putInt(table + i * ArcDescriptor.SIZE + field * (long) Integer.BYTES, arcs[i][field]);
            }
        }
        putInt(header + BlocksDescriptor.ARC_CAPACITY, arcs.length);
        putInt(header + BlocksDescriptor.ARC_COUNT, arcs.length);
        putLong(header + BlocksDescriptor.ARCS, address(table));
        return table;
    }

    /// Fills in a block.
    ///
    /// @param counter its number, -1 for none
    /// @param lines   of `file`
    public void block(long row, int counter, int function, long address, int instructions, String file, int... lines) {
        putLong(row + BlockDescriptor.ADDRESS, address);
        putInt(row + BlockDescriptor.SIZE_AT, 4 * instructions);
        putInt(row + BlockDescriptor.FUNCTION, function);
        putInt(row + BlockDescriptor.INSTRUCTIONS, instructions);
        putInt(row + BlockDescriptor.LAST, 4 * (instructions - 1));
        putInt(row + BlockDescriptor.COUNTER, counter);
        if (lines.length > 0) {
            long list = allocate((1 + 2 * lines.length) * (long) Integer.BYTES);
            putInt(list, lines.length);
            int name = string(file);
            for (int i = 0; i < lines.length; i++) {
                putInt(list + (1 + 2 * i) * (long) Integer.BYTES, name);
                putInt(list + (2 + 2 * i) * (long) Integer.BYTES, lines[i]);
            }
            putLong(row + BlockDescriptor.LINES, address(list));
        }
    }

    /// A thread's counters.
    public void blockCounts(long thread, long... counts) {
        long row = allocate(counts.length * (long) Long.BYTES);
        for (int i = 0; i < counts.length; i++) {
            putLong(row + i * (long) Long.BYTES, counts[i]);
        }
        putLong(thread + ThreadDescriptor.BLOCK_COUNTS, address(row));
    }

    /// Adds a thread without calls; returns its offset.
    public long thread(int tid) {
        long at = allocate(ThreadDescriptor.SIZE);
        putInt(at + ThreadDescriptor.TID, tid);
        putInt(at + ThreadDescriptor.PID, PID);
        putLong(at + ThreadDescriptor.NEXT, bytes.getLong((int) HeaderDescriptor.THREADS));
        putLong(HeaderDescriptor.THREADS, address(at));
        putInt(HeaderDescriptor.THREAD_COUNT, bytes.getInt((int) HeaderDescriptor.THREAD_COUNT) + 1);
        return at;
    }

    /// Gives a thread a value of snippets.
    void value(long thread, int index, long word) {
        long values = bytes.getLong((int) (thread + ThreadDescriptor.VALUES)) - BASE;
        if (values < 0) {
            values = allocate(ValueDescriptor.VALUES * (long) Long.BYTES);
            putLong(thread + ThreadDescriptor.VALUES, address(values));
        }
        putLong(values + index * (long) Long.BYTES, word);
    }

    /// Adds a metric that is enabled for `/Code/a.c` since a second ago; returns its offset.
    public long metric(String id, int kind, int value, int unitsType, int combine) {
        long at = allocate(MetricDescriptor.SIZE);
        putInt(at + MetricDescriptor.STATE, MetricDescriptor.STATE_ON);
        putInt(at + MetricDescriptor.ID, string(id));
        putInt(at + MetricDescriptor.NAME, string("Name of " + id));
        putInt(at + MetricDescriptor.UNITS, string("things"));
        putInt(at + MetricDescriptor.FOCUS, string("/Code/a.c\n/Thread/5"));
        putInt(at + MetricDescriptor.UNITS_TYPE, unitsType);
        putInt(at + MetricDescriptor.COMBINE, combine);
        putInt(at + MetricDescriptor.KIND, kind);
        putInt(at + MetricDescriptor.VALUE, value);
        putLong(at + MetricDescriptor.SINCE_TSC, 5_000 + SECOND);
        putLong(at + MetricDescriptor.NEXT, bytes.getLong((int) HeaderDescriptor.METRICS));
        putLong(HeaderDescriptor.METRICS, address(at));
        return at;
    }

    /// Adds a process that started `startMillis` after the session and still runs; returns its offset.
    long process(int pid, int parent, long startMillis) {
        long at = allocate(ProcessDescriptor.SIZE);
        putInt(at + ProcessDescriptor.OWNER, pid);
        putInt(at + ProcessDescriptor.PID, pid);
        putInt(at + ProcessDescriptor.PARENT, parent);
        putInt(at + ProcessDescriptor.EXIT_STATUS, -1);
        putLong(at + ProcessDescriptor.STARTED_NANOS, 1_700_000_000 * SECOND + startMillis * 1_000_000);
        putLong(at + ProcessDescriptor.NEXT, bytes.getLong((int) HeaderDescriptor.PROCESSES));
        putLong(HeaderDescriptor.PROCESSES, address(at));
        return at;
    }

    /// Lets the process end by itself, `millis` after the session's start.
    void ends(long process, int status, long millis) {
        putInt(process + ProcessDescriptor.STATE, ProcessDescriptor.STATE_ENDED);
        putInt(process + ProcessDescriptor.OWNER, ProcessLife.OWNER_DIED);
        putInt(process + ProcessDescriptor.EXIT_STATUS, status);
        putLong(process + ProcessDescriptor.ENDED_NANOS, 1_700_000_000 * SECOND + millis * 1_000_000);
    }

    /// The process is killed, and nobody has noticed yet.
    void dies(long process) {
        putInt(process + ProcessDescriptor.OWNER, ProcessLife.OWNER_DIED);
    }

    /// Gives a thread's block to a process, with `credited` calls of its earlier owners in it.
    void belongs(long thread, long process, long credited) {
        putLong(thread + ThreadDescriptor.PROCESS, process == 0 ? 0 : address(process));
        putLong(thread + ThreadDescriptor.CREDITED, credited);
        putInt(thread + ThreadDescriptor.SHARED, credited > 0 ? 1 : 0);
    }

    /// Gives a thread its row of a function, with these durations and this part of them spent outside of
    /// callees.
    public void exactRow(long thread, int function, long self, long... ticks) {
        putRow(thread, function, row(function, self, 1, ticks));
        count(thread, function, ticks.length);
    }

    private void putRow(long thread, int function, long row) {
        long rows = bytes.getLong((int) (thread + ThreadDescriptor.ROWS)) - BASE;
        if (rows < 0) {
            rows = allocate(CAPACITY * (long) Long.BYTES);
            putLong(thread + ThreadDescriptor.ROWS, address(rows));
        }
        putLong(rows + (long) function * Long.BYTES, address(row));
    }

    /// Gives a thread its row of a function of which it has timed some calls by chance.
    ///
    /// @param weight calls that each of them stands for
    public void rowByChance(long thread, int function, int weight, long... ticks) {
        putRow(thread, function, sampledRow(function, weight, ticks));
        count(thread, function, weight * ticks.length);
    }

    /// Gives the last thread, or one that nobody has, its row of a sampled function, with these durations. They stand
    /// for its estimated calls.
    public void timedRow(int function, long... ticks) {
        double calls = bytes.getDouble((int) (functionAt(function) + FunctionDescriptor.CALLS));
        long row = sampledRow(function, Math.max(1, (int) (calls / ticks.length)), ticks);
        putRow(bytes.getLong((int) HeaderDescriptor.THREADS) == 0 ? thread(0) : lastThread(), function, row);
    }

    /// Adds a caller of a function that every call has told; returns the edge's offset.
    ///
    /// @param caller index, or one of the constants of [EdgeDescriptor]
    public long edge(int function, int caller, long calls, long total) {
        return edge(function, caller, calls, total, calls);
    }

    /// Adds a caller of a function; returns the edge's offset.
    ///
    /// @param samples calls that told their caller
    public long edge(int function, int caller, long calls, long total, long samples) {
        long list = functionAt(function) + FunctionDescriptor.CALLERS;
        long at = allocateFigures(EdgeDescriptor.SIZE);
        putLong(at + EdgeDescriptor.NEXT, bytes.getLong((int) list));
        putInt(at + EdgeDescriptor.CALLER, caller);
        putLong(at + EdgeDescriptor.CALLS, calls);
        putLong(at + EdgeDescriptor.TOTAL, total);
        putLong(at + EdgeDescriptor.SAMPLES, samples);
        putLong(list, address(at));
        return at;
    }

    private long sampledRow(int function, int weight, long... ticks) {
        long row = row(function, 0, weight, ticks);
        putLong(row + RowDescriptor.SAMPLES, ticks.length);
        putInt(row + RowDescriptor.WEIGHT, weight);
        return row;
    }

    private long row(int function, long self, int weight, long... ticks) {
        long row = allocateFigures(RowDescriptor.SIZE);
        Histogram histogram = new Histogram(1, 1L << 54, 2);
        long total = 0;
        long min = -1;
        long max = 0;
        for (long tick : ticks) {
            histogram.recordValueWithCount(tick, weight);
            total += weight * tick;
            min = min < 0 ? tick : Math.min(min, tick);
            max = Math.max(max, tick);
        }
        putLong(row + RowDescriptor.COUNT, (long) weight * ticks.length);
        putLong(row + RowDescriptor.TOTAL, total);
        putLong(row + RowDescriptor.MIN, min);
        putLong(row + RowDescriptor.MAX, max);
        putLong(row + RowDescriptor.SELF, self);
        putInt(row + RowDescriptor.FUNCTION, function);
        // The library counts its values in the order of its array: the position among all of them is the index.
        int index = 0;
        for (HistogramIterationValue value : new AllSlots(histogram)) {
            if (value.getCountAtValueIteratedTo() > 0) {
                long chunkAt = row + RowDescriptor.CHUNKS_AT + index / RowDescriptor.CHUNK_SLOTS * (long) Long.BYTES;
                if (bytes.getLong((int) chunkAt) == 0) {
                    putLong(chunkAt, address(allocate(RowDescriptor.CHUNK_SLOTS * (long) Long.BYTES)));
                }
                long chunk = bytes.getLong((int) chunkAt) - BASE;
                putLong(
                        chunk + index % RowDescriptor.CHUNK_SLOTS * (long) Long.BYTES,
                        value.getCountAtValueIteratedTo());
            }
            index++;
        }
        return row;
    }

    private record AllSlots(Histogram histogram) implements Iterable<HistogramIterationValue> {
        @Override
        public Iterator<HistogramIterationValue> iterator() {
            return histogram.allValues().iterator();
        }
    }

    /// Adds samples of CPU time, a millisecond apart, of all of which none has been lost; returns the
    /// struct's offset.
    ///
    /// @param ofFunctions samples in each, by their numbers
    public long cpuSamples(long samples, long inProbes, long elsewhere, long... ofFunctions) {
        long at = allocate(PcSamplesDescriptor.SIZE);
        putLong(at + PcSamplesDescriptor.PERIOD_NANOS, 1_000_000);
        putLong(at + PcSamplesDescriptor.SAMPLES, samples);
        putLong(
                at + PcSamplesDescriptor.FRAMES,
                address(allocate(PcSamplesDescriptor.PC_CHUNK * PcFrameDescriptor.SIZE)));
        long chunk = PcSamplesDescriptor.PC_CHUNK * PcNodeDescriptor.SIZE;
        long nodes = allocate(2 * chunk);
        putLong(at + PcSamplesDescriptor.NODES, address(nodes));
        putLong(at + PcSamplesDescriptor.NODES + Long.BYTES, address(nodes + chunk));
        frame(at, PcFrameDescriptor.CODE_ELSEWHERE, "", elsewhere);
        frame(at, PcFrameDescriptor.CODE_PROBES, "", inProbes);
        frame(at, PcFrameDescriptor.CODE_CUT, "", 0);
        for (int i = 0; i < ofFunctions.length; i++) {
            frame(at, i, "", ofFunctions[i]);
        }
        node(at, 0, 0);
        putLong(HeaderDescriptor.PC_SAMPLES, address(at));
        return at;
    }

    /// Adds samples in an image's code that is no probed function's: the number of that code's frame.
    ///
    /// @param samples offset of the struct
    public int cpuSamplesOf(long samples, String image, long count) {
        return frame(samples, PcFrameDescriptor.CODE_IMAGE, image, count);
    }

    /// Adds code: its number.
    ///
    /// @param function of a function with probes, or what else it is
    public int frame(long samples, int function, String image, long count) {
        int number = bytes.getInt((int) (samples + PcSamplesDescriptor.FRAME_COUNT));
        long at = frameAt(samples, number);
        putLong(at + PcFrameDescriptor.SAMPLES, count);
        putLong(at + PcFrameDescriptor.ADDRESS, 0x1000L + number);
        putInt(at + PcFrameDescriptor.FUNCTION, function);
        putInt(at + PcFrameDescriptor.IMAGE, image.isEmpty() ? 0 : string(image));
        putInt(samples + PcSamplesDescriptor.FRAME_COUNT, number + 1);
        return number;
    }

    long frameAt(long samples, int number) {
        return bytes.getLong((int) (samples + PcSamplesDescriptor.FRAMES)) - BASE + number * PcFrameDescriptor.SIZE;
    }

    long nodeAt(long samples, int number) {
        return bytes.getLong((int) (samples + PcSamplesDescriptor.NODES)) - BASE + number * PcNodeDescriptor.SIZE;
    }

    /// Adds a call path: its number.
    private int node(long samples, int parent, int frame) {
        int number = bytes.getInt((int) (samples + PcSamplesDescriptor.NODE_COUNT));
        putInt(nodeAt(samples, number) + PcNodeDescriptor.PARENT, parent);
        putInt(nodeAt(samples, number) + PcNodeDescriptor.FRAME, frame);
        putInt(samples + PcSamplesDescriptor.NODE_COUNT, number + 1);
        return number;
    }

    /// Adds samples of a call path.
    ///
    /// @param frames numbers of its code, the caller of all first
    public void path(long samples, long count, int... frames) {
        int node = 0;
        for (int frame : frames) {
            node = child(samples, node, frame);
        }
        putLong(nodeAt(samples, node) + PcNodeDescriptor.SAMPLES, count);
    }

    /// Adds time off the processors on a call path.
    ///
    /// @param frames numbers of its code, the caller of all first
    public void wait(long samples, long nanos, int... frames) {
        int node = 0;
        for (int frame : frames) {
            node = child(samples, node, frame);
        }
        putLong(nodeAt(samples, node) + PcNodeDescriptor.WAITS, nanos);
    }

    private int child(long samples, int parent, int frame) {
        int nodes = bytes.getInt((int) (samples + PcSamplesDescriptor.NODE_COUNT));
        for (int i = 1; i < nodes; i++) {
            int at = (int) nodeAt(samples, i);
            if (bytes.getInt(at + (int) PcNodeDescriptor.PARENT) == parent
                    && bytes.getInt(at + (int) PcNodeDescriptor.FRAME) == frame) {
                return i;
            }
        }
        return node(samples, parent, frame);
    }

    /// Adds a thread that was sampled: its number. Thread 0 is there already.
    public int sampledThread(long samples, int tid, String name) {
        int number = bytes.getInt((int) (samples + PcSamplesDescriptor.THREAD_COUNT));
        if (number == 0) {
            long chunk = PcSamplesDescriptor.PC_CHUNK * PcThreadDescriptor.SIZE;
            putLong(samples + PcSamplesDescriptor.THREADS, address(allocate(chunk)));
            number = 1;
        }
        long row =
                bytes.getLong((int) (samples + PcSamplesDescriptor.THREADS)) - BASE + number * PcThreadDescriptor.SIZE;
        putInt(row + PcThreadDescriptor.TID, tid);
        putInt(row + PcThreadDescriptor.PID, 4711);
        bytes.put((int) (row + PcThreadDescriptor.NAME), name.getBytes(StandardCharsets.UTF_8));
        putInt(samples + PcSamplesDescriptor.THREAD_COUNT, number + 1);
        return number;
    }

    /// Adds a sample to the log, `millis` after the session's start, and to its thread.
    ///
    /// @param node a call path's number, from 1 in the order in which paths were added
    public void sample(long samples, int millis, int node, int thread) {
        int number = bytes.getInt((int) (samples + PcSamplesDescriptor.LOG_COUNT));
        if (number == 0) {
            putLong(
                    samples + PcSamplesDescriptor.LOG,
                    address(allocate(PcSamplesDescriptor.PC_CHUNK * PcSampleDescriptor.SIZE)));
            putLong(samples + PcSamplesDescriptor.OPENED_TSC, bytes.getLong((int) HeaderDescriptor.START_TSC));
        }
        long row = bytes.getLong((int) (samples + PcSamplesDescriptor.LOG)) - BASE + number * PcSampleDescriptor.SIZE;
        putInt(row + PcSampleDescriptor.MILLIS, millis);
        putInt(row + PcSampleDescriptor.NODE, node);
        putInt(row + PcSampleDescriptor.THREAD, thread);
        putInt(row + PcSampleDescriptor.WEIGHT, 1);
        putLong(row + PcSampleDescriptor.ADDRESS, 0x2000L + number);
        long at =
                bytes.getLong((int) (samples + PcSamplesDescriptor.THREADS)) - BASE + thread * PcThreadDescriptor.SIZE;
        putLong(at + PcThreadDescriptor.SAMPLES, bytes.getLong((int) (at + PcThreadDescriptor.SAMPLES)) + 1);
        putInt(samples + PcSamplesDescriptor.LOG_COUNT, number + 1);
    }

    /// Ten samples of two threads: main, work is on the first for 0.5 s, then main, leaf on the other for
    /// as long.
    public static SessionImage samplesSample() {
        SessionImage image = pathsSample();
        long samples = image.samplesAt();
        int first = image.sampledThread(samples, 101, "first");
        int second = image.sampledThread(samples, 102, "second");
        for (int i = 9; i >= 0; i--) {
            image.sample(samples, 100 * i, i < 5 ? 2 : 5, i < 5 ? first : second);
        }
        return image;
    }

    /// Offset of the struct of samples.
    long samplesAt() {
        return bytes.getLong((int) HeaderDescriptor.PC_SAMPLES) - BASE;
    }

    void nameBuild(long samples, int frame, String build) {
        putInt(frameAt(samples, frame) + PcFrameDescriptor.BUILD, string(build));
    }

    /// Frame of a function with probes, of [#cpuSamples]
    public static int frameOf(int function) {
        return 3 + function;
    }

    /// Gives a thread a ring with room for `capacity` records.
    void ring(long thread, int capacity) {
        putLong(thread + ThreadDescriptor.RING, address(allocate(capacity * RecordDescriptor.SIZE)));
        putLong(thread + ThreadDescriptor.RING_MASK, capacity - 1L);
    }

    /// Adds a complete record at a thread's head.
    void record(long thread, int function, long ticks) {
        long head = bytes.getLong((int) (thread + ThreadDescriptor.HEAD));
        long mask = bytes.getLong((int) (thread + ThreadDescriptor.RING_MASK));
        long at = bytes.getLong((int) (thread + ThreadDescriptor.RING)) - BASE + (head & mask) * RecordDescriptor.SIZE;
        putLong(at + RecordDescriptor.START, 5_000 + 1_000 * (head + 1));
        putLong(at + RecordDescriptor.DURATION, ticks);
        putInt(at + RecordDescriptor.FUNCTION, function);
        putInt(at + RecordDescriptor.SEQ, (int) (head + 1));
        putLong(thread + ThreadDescriptor.HEAD, head + 1);
    }

    /// Offset of the thread that was added last.
    long lastThread() {
        return bytes.getLong((int) HeaderDescriptor.THREADS) - BASE;
    }

    /// Makes the last record of that thread one of a call that returns to this address.
    void calledFrom(long address) {
        long thread = lastThread();
        long mask = bytes.getLong((int) (thread + ThreadDescriptor.RING_MASK));
        long last = bytes.getLong((int) (thread + ThreadDescriptor.HEAD)) - 1;
        putLong(
                bytes.getLong((int) (thread + ThreadDescriptor.RING))
                        - BASE
                        + (last & mask) * RecordDescriptor.SIZE
                        + RecordDescriptor.CALLER,
                address);
    }

    /// Adds a record that has been reserved and not written.
    void reservation(long thread) {
        putLong(thread + ThreadDescriptor.HEAD, bytes.getLong((int) (thread + ThreadDescriptor.HEAD)) + 1);
    }

    /// Moves the tail to the head, as the agent does after it has drained a ring.
    void drained(long thread) {
        putLong(thread + ThreadDescriptor.TAIL, bytes.getLong((int) (thread + ThreadDescriptor.HEAD)));
    }

    void site(int function, byte kind, long address) {
        int index = bytes.getInt((int) HeaderDescriptor.SITE_COUNT);
        long at = sites + index * SiteDescriptor.SIZE;
        putLong(at + SiteDescriptor.FUNCTION, address(functionAt(function)));
        bytes.put((int) (at + SiteDescriptor.SIZE_AT), (byte) 4);
        bytes.put((int) (at + SiteDescriptor.KIND), kind);
        putLong(at + SiteDescriptor.ADDRESS, address);
        putInt(at + SiteDescriptor.IMAGE, string("/opt/app/bin/app"));
        putInt(HeaderDescriptor.SITE_COUNT, index + 1);
    }

    int string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        int at = (int) allocate(Integer.BYTES + utf8.length);
        putInt(at, utf8.length);
        bytes.put(at + Integer.BYTES, utf8);
        return at;
    }

    public SessionImage ended(int status, int signal) {
        putInt(HeaderDescriptor.EXIT_STATUS, status);
        putInt(HeaderDescriptor.EXIT_SIGNAL, signal);
        putLong(HeaderDescriptor.END_REAL_NANOS, 1_700_000_002 * SECOND);
        putInt(HeaderDescriptor.STATE, HeaderDescriptor.STATE_ENDED);
        return this;
    }

    public void putLong(long at, long value) {
        bytes.putLong((int) at, value);
    }

    public void putInt(long at, int value) {
        bytes.putInt((int) at, value);
    }

    private void putDouble(long at, double value) {
        bytes.putDouble((int) at, value);
    }

    private void putText(long at, String text) {
        bytes.put((int) at, text.getBytes(StandardCharsets.UTF_8));
    }

    /// The file's contents.
    byte[] bytes() {
        byte[] copy = new byte[(int) bytes.getLong((int) HeaderDescriptor.ARENA_END)];
        bytes.get(0, copy);
        return copy;
    }

    public Path write(Path directory) throws IOException {
        Path file = directory.resolve(SessionFile.NAME);
        Files.write(file, bytes());
        return file;
    }

    /// Two threads in exact mode, three functions, one of them never called.
    public static SessionImage exactSample() {
        SessionImage image = new SessionImage().exact();
        int main = image.function("main");
        int parse =
                image.function("ns::parse(char const*)", "_ZN2ns5parseEPKc", "/src/parse.cpp", 42, "/opt/app/lib/p.so");
        image.function("unused");
        long first = image.thread(101);
        long second = image.thread(102);
        image.exactRow(first, main, 1_498_999_100, 1_500_000_000);
        image.exactRow(first, parse, 900, 100, 200, 600);
        image.exactRow(second, parse, 1_000_000, 1_000_000);
        image.site(main, SiteKind.ENTRY.code(), 0x401010);
        image.site(parse, SiteKind.SIBLING_EXIT.code(), 0x401020);
        return image;
    }

    /// A process with the agent and three that it has forked: one lives, one was killed, and one, which had
    /// a block of
    /// others, has exited. Two that ended before are forgotten.
    public static SessionImage familySample() {
        SessionImage image = new SessionImage().exact();
        int serve = image.function("serve");
        int parse = image.function("parse");
        long master = image.process(PID, 1, 0);
        image.putLong(HeaderDescriptor.AGENT_PROCESS, address(master));
        long alive = image.process(4801, PID, 100);
        long killed = image.process(4802, PID, 200);
        long exited = image.process(4803, PID, 300);
        image.dies(killed);
        image.ends(exited, 7, 1300);
        long first = image.thread(PID);
        image.exactRow(first, serve, 10, 10);
        image.belongs(first, master, 0);
        for (int i = 0; i < 2; i++) {
            long thread = image.thread(4801 + 100 * i);
            image.exactRow(thread, parse, 600, 100, 200, 300);
            image.belongs(thread, alive, 0);
        }
        long third = image.thread(4802);
        image.exactRow(third, serve, 50, 50);
        image.exactRow(third, parse, 1_000, 1_000);
        image.belongs(third, killed, 0);
        long fourth = image.thread(4803);
        image.exactRow(fourth, parse, 1_500, 100, 200, 300, 400, 500);
        image.belongs(fourth, exited, 4);
        image.putLong(HeaderDescriptor.PROCESSES_FORGOTTEN, 2);
        image.putLong(HeaderDescriptor.CALLS_FORGOTTEN, 4);
        return image;
    }

    /// A thread with a counter, errors and a timer that runs, and a metric of each kind.
    public static SessionImage metricSample() {
        SessionImage image = sampledSample();
        long thread = image.thread(4730);
        image.value(thread, 1, 30);
        image.value(thread, 2, 3);
        image.value(thread, 4 + ValueDescriptor.TIMER_NESTING, 1);
        image.value(thread, 4 + ValueDescriptor.TIMER_START, 5_000 + SECOND);
        long calls = image.metric("calls", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_RATE, 0);
        image.putInt(calls + MetricDescriptor.ERRORS, 2);
        image.metric("busy", ValueDescriptor.KIND_WALL_TIMER, 4, MetricDescriptor.UNITS_AMOUNT, 1);
        image.metric("cpu", ValueDescriptor.KIND_PROCESS_TIMER, 4, MetricDescriptor.UNITS_AMOUNT, 2);
        return image;
    }

    /// One thread in sampled mode: a hot function, part of whose callers wait in the ring, and a rare one.
    public static SessionImage sampledSample() {
        SessionImage image = new SessionImage();
        int hot = image.function("hot");
        int rare = image.function("rare");
        image.estimate(hot, 1_200_000.4, 36_000_000.0);
        image.open(rare);
        long thread = image.thread(101);
        image.count(thread, hot, 40);
        image.count(thread, rare, 3);
        image.ring(thread, 8);
        for (int i = 0; i < 6; i++) {
            image.record(thread, hot, 1000);
        }
        image.timedRow(hot, 1000, 1000, 1000, 1000, 1000, 1000, 2000, 3000);
        image.timedRow(rare, 70_000, 90_000);
        image.drained(thread);
        image.edge(hot, EdgeDescriptor.CALLER_NONE, 6, 6_000);
        image.record(thread, hot, 2000);
        image.record(thread, rare, 70_000);
        image.record(thread, rare, 90_000);
        image.record(thread, hot, 3000);
        image.reservation(thread);
        return image;
    }

    /// The sampled session with 1,000 samples of CPU time: 600 in the hot function, 3 in the rare one, 100
    /// in one that
    /// was entered before its probes were there, 10 in probes, 280 in libraries, and 7 elsewhere.
    public static SessionImage cpuSample() {
        SessionImage image = sampledSample();
        image.function("loop");
        image.function("unused");
        long samples = image.cpuSamples(1000, 10, 7, 600, 3, 100);
        image.cpuSamplesOf(samples, "/usr/lib/libz.so.1", 100);
        image.cpuSamplesOf(samples, "/usr/lib/libc.so.6", 180);
        return image;
    }

    /// Three slices of 0.5 s. In each `main` calls `work` so often as the slice's number, from 1, in 1,000
    /// ticks each.
    public static SessionImage sliceSample() {
        SessionImage image = new SessionImage();
        int main = image.function("main");
        int work = image.function("work");
        image.estimate(work, 6, 0);
        image.timedRow(main, 2_000_000_000);
        image.timedRow(work, times(6, 1_000));
        image.edge(work, main, 6, 6_000);
        image.putLong(HeaderDescriptor.SLICES, address(image.allocate(SlicesDescriptor.SIZE)));
        for (int n = 1; n <= 3; n++) {
            // 1,000 ticks are the index 250 + 2 * 128 of a row's slots.
            image.slice(n, work, n, 0, n, 1_000 * n, 0, n, 1, (250 + 2 * 128) / 8, n, 1, main + 1, n, 1_000 * n, n);
        }
        return image;
    }

    /// Adds a slice with the numbers of one function.
    private void slice(int number, long... numbers) {
        ByteArrayOutputStream leb128 = new ByteArrayOutputStream();
        for (long left : numbers) {
            for (; left > 127; left >>= 7) {
                leb128.write((int) (left & 127 | 128));
            }
            leb128.write((int) left);
        }
        long chunk = allocate(SliceChunkDescriptor.SIZE);
        bytes.put((int) (chunk + SliceChunkDescriptor.BYTES_AT), leb128.toByteArray());
        long slices = bytes.getLong((int) HeaderDescriptor.SLICES) - BASE;
        long row = slices + SliceRows.at(number - 1);
        putLong(row + SliceDescriptor.START_TSC, 5_000 + (number - 1) * SECOND / 2);
        putLong(row + SliceDescriptor.END_TSC, 5_000 + number * SECOND / 2);
        putLong(row + SliceDescriptor.CHUNKS, address(chunk));
        putInt(row + SliceDescriptor.SIZE_AT, leb128.size());
        putInt(row + SliceDescriptor.FUNCTIONS, 1);
        putLong(row + SliceDescriptor.AGENT_CPU_NANOS, 5_000_000);
        putLong(slices + SlicesDescriptor.COMPLETE, number);
    }

    /// Calls with callers. `main` has not returned; it and code without probes call `work`, which calls
    /// `leaf` and
    /// `rec`, which calls itself.
    public static SessionImage callersSample() {
        SessionImage image = new SessionImage();
        int main = image.function("main");
        int work = image.function("work");
        int leaf = image.function("leaf");
        int rec = image.function("rec");
        image.timedRow(work, times(10, 1000));
        image.edge(work, main, 8, 8_000);
        image.edge(work, EdgeDescriptor.CALLER_NONE, 2, 2_000);
        image.timedRow(leaf, times(20, 100));
        image.edge(leaf, work, 15, 1_500);
        image.edge(leaf, main, 5, 500);
        image.timedRow(rec, times(4, 1000));
        image.edge(rec, work, 1, 1_000);
        image.edge(rec, rec, 3, 3_000);
        image.timedRow(image.function("nothing"), 0); // so that timing adds nothing
        return image;
    }

    /// The same with samples of CPU time, each of 100 ns: of what `main`, `work`, `leaf` and `rec` were found to
    /// do.
    public static SessionImage pathsSample() {
        SessionImage image = callersSample();
        long samples = image.cpuSamples(105, 0, 0, 0, 75, 20, 10);
        image.putLong(samples + PcSamplesDescriptor.PERIOD_NANOS, 100);
        int main = frameOf(0);
        int work = frameOf(1);
        int leaf = frameOf(2);
        int rec = frameOf(3);
        image.path(samples, 60, main, work);
        image.path(samples, 12, main, work, leaf);
        image.path(samples, 8, main, work, rec);
        image.path(samples, 5, main, leaf);
        image.path(samples, 15, work);
        image.path(samples, 3, work, leaf);
        image.path(samples, 2, work, rec);
        return image;
    }

    /// [#pathsSample], and waits of 30 us: 20 us in `work` called by `main`, and 10 us in `rec` called by `main`, which
    /// has
    /// no CPU time.
    public static SessionImage waitsSample() {
        SessionImage image = pathsSample();
        long samples = image.samplesAt();
        image.wait(samples, 20_000, frameOf(0), frameOf(1));
        image.wait(samples, 10_000, frameOf(0), frameOf(3));
        return image;
    }

    private static long[] times(int count, long ticks) {
        long[] times = new long[count];
        Arrays.fill(times, ticks);
        return times;
    }
}
