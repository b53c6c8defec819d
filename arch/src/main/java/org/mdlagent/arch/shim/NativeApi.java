package org.mdlagent.arch.shim;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.ApiDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ImageDescriptor;
import org.mdlagent.arch.layout.KernelEvent;

/// The shim's functions, from the table `struct mdl_api` of `mdl/api.h`, which specifies each.
///
/// Every function has at most three integer parameters and at most one integer result, so one native method calls all
/// of them: the System V calling convention ignores additional argument registers. The shim registers that method.
/// Foreign functions would cost 30 ms of CPU at each start, because method handles are made when they are linked.
public final class NativeApi implements CodeWriter, KeptFiles {
    /// `FASTINST_NO_PROBE` of `fastinst.h`: a status of [#attach] and [#snippets].
    public static final int NO_PROBE = 2;

    private static final int SYMBOL_BYTES = 4096;

    /// Few, because it runs at the agent's start.
    private static final int CLOCK_ATTEMPTS = 64;

    private static final int CPUID_REGISTERS = 4;
    private static final int CLOCK_GETTIME = 228;
    private static final int CLOCK_THREAD_CPUTIME_ID = 3;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /// Stores per call: the collector waits for the call, and its copied arguments stay in the core's cache.
    private static final int STORES_MAX = 512;

    private final long table;
    private final long store;
    private final long replace;
    private final long replaceAll;
    private final long waitUntil;
    private final long syncCores;
    private final long instruction;
    private final long instructionUses;
    private final long tsc;
    private final long arm;
    private final long disarm;
    private final long programCpu;
    private final long toggle;
    private final long attach;
    private final long snippets;
    private final long allocate;
    private final long decode;
    private final long demangle;
    private final long renewClocks;
    private final long takeRequest;

    /// 0 if it has not been looked up, or if there is none.
    private long syscall;

    private final long scratch = NativeBuffer.forEver(3L * SYMBOL_BYTES);

    /// @param table address of the shim's `struct mdl_api`
    /// @throws IllegalArgumentException if the shim was built from another version of `mdl/api.h`
    public NativeApi(long table) {
        if (Memory.getLong(table) != ApiDescriptor.SIZE) {
            throw new IllegalArgumentException("libmdlagent.so and the runtime image are of different builds: table of "
                    + Memory.getLong(table) + " bytes, expected " + ApiDescriptor.SIZE);
        }
        this.table = table;
        store = function(ApiDescriptor.STORE);
        replace = function(ApiDescriptor.REPLACE);
        replaceAll = function(ApiDescriptor.REPLACE_ALL);
        waitUntil = function(ApiDescriptor.WAIT_UNTIL);
        syncCores = function(ApiDescriptor.SYNC_CORES);
        instruction = function(ApiDescriptor.INSTRUCTION);
        instructionUses = function(ApiDescriptor.INSTRUCTION_USES);
        tsc = function(ApiDescriptor.TSC);
        arm = function(ApiDescriptor.ARM);
        disarm = function(ApiDescriptor.DISARM);
        programCpu = function(ApiDescriptor.PROGRAM_CPU);
        toggle = function(ApiDescriptor.TOGGLE);
        attach = function(ApiDescriptor.ATTACH);
        snippets = function(ApiDescriptor.SNIPPETS);
        allocate = function(ApiDescriptor.ALLOCATE);
        decode = function(ApiDescriptor.DECODE);
        demangle = function(ApiDescriptor.DEMANGLE);
        renewClocks = function(ApiDescriptor.RENEW_CLOCKS);
        takeRequest = function(ApiDescriptor.TAKE_REQUEST);
    }

    /// The table of the library `mdl_harness`: the shim outside any target process, for tests and benchmarks.
    ///
    /// @throws UnsatisfiedLinkError if there is no such library or function
    public static NativeApi ofHarness(Path library) {
        System.load(library.toAbsolutePath().toString());
        return new NativeApi(harness());
    }

    private long function(long field) {
        return Memory.getLong(table + field);
    }

    /// Calls a function of the shim. The garbage collector can run meanwhile.
    private static native long call(long function, long first, long second, long third);

    /// The address of `struct mdl_api` in the library that was loaded.
    private static native long harness();

    /// Address of the session's header.
    public long session() {
        return Memory.getLong(table + ApiDescriptor.SESSION);
    }

    /// `MDL_OPTIONS` at process start.
    public String options() {
        return Memory.string(Memory.getLong(table + ApiDescriptor.OPTIONS));
    }

    /// Path of the session's log.
    public String logPath() {
        return Memory.string(Memory.getLong(table + ApiDescriptor.LOG_PATH));
    }

    /// Directory that holds `libmdlagent.so`.
    public String libraryDirectory() {
        return Memory.string(Memory.getLong(table + ApiDescriptor.LIBRARY));
    }

    /// The shim's entry points for generated code.
    public RecordingEntryPoints recordingEntryPoints(boolean exact) {
        int flags = Memory.getInt(session() + HeaderDescriptor.FLAGS);
        boolean cpuTime = (flags & HeaderDescriptor.FLAG_CPU_TIME) != 0;
        boolean slow = (flags & HeaderDescriptor.FLAG_SLOW) != 0;
        return new RecordingEntryPoints(
                exact,
                cpuTime,
                Memory.getInt(session() + (cpuTime ? HeaderDescriptor.CLOCK_CPU_NANOS : HeaderDescriptor.CLOCK_TICKS)),
                session() + HeaderDescriptor.STATE,
                Math.toIntExact(Memory.getLong(table + ApiDescriptor.TLS_OFFSET)),
                Memory.getLong(table + (exact ? ApiDescriptor.ENTRY_SLOW : ApiDescriptor.SAMPLE_ENTRY_SLOW)),
                Memory.getLong(table + (exact ? ApiDescriptor.EXIT_SLOW : ApiDescriptor.SAMPLE_EXIT_SLOW)),
                Memory.getLong(table + ApiDescriptor.RECORD_SLOW),
                Memory.getLong(table + ApiDescriptor.EXPIRE_ENTRY),
                Memory.getLong(table + ApiDescriptor.EXPIRE_EXIT),
                Memory.getLong(table + ApiDescriptor.FUNCTION_ENTRY_SLOW),
                Memory.getLong(table + ApiDescriptor.FUNCTION_EXIT_SLOW),
                Memory.getLong(table + ApiDescriptor.FUNCTION_SIBLING_SLOW),
                Memory.getLong(table + ApiDescriptor.COUNT_SLOW),
                slow ? Memory.getLong(table + ApiDescriptor.FUNCTION_ENTRY_CPU) : 0,
                slow ? Memory.getLong(table + ApiDescriptor.READ_CPU) : 0,
                new ClientEntryPoints(
                        Memory.getLong(table + ApiDescriptor.HOOK_ENTRY_CLIENT),
                        Memory.getLong(table + ApiDescriptor.HOOK_EXIT_CLIENT),
                        Memory.getLong(table + ApiDescriptor.FUNCTION_ENTRY_CLIENT),
                        Memory.getLong(table + ApiDescriptor.FUNCTION_EXIT_CLIENT),
                        Memory.getLong(table + ApiDescriptor.COUNT_CLIENT),
                        Memory.getLong(table + ApiDescriptor.VALUES),
                        Memory.getLong(table + ApiDescriptor.VALUES_FRAMED),
                        Memory.getLong(table + ApiDescriptor.SNIPPET_CALL),
                        Memory.getLong(table + ApiDescriptor.SNIPPET_CALL_FRAMED)));
    }

    /// Registers generated code with unwinders and debuggers.
    ///
    /// @param unwindTable its `.eh_frame_hdr`, followed by `.eh_frame` (`StubCode.unwindTable`)
    /// @throws IllegalStateException if there is no room for another range
    public void addTrampolines(long start, long length, long unwindTable) {
        long result = call(function(ApiDescriptor.TRAMPOLINES), start, length, unwindTable);
        if (result < 0) {
            throw new IllegalStateException("trampolines cannot be made known to unwinders: errno " + -result);
        }
    }

    /// Releases a `main` that waits for the probes.
    public void ready() {
        call(function(ApiDescriptor.READY), 0, 0, 0);
    }

    /// The time-stamp counter, in ticks.
    public long tsc() {
        return call(tsc, 0, 0, 0);
    }

    /// CPU time of the calling thread, in nanoseconds; 0 if it cannot be read.
    public long threadNanos() {
        long function = syscall();
        long time = scratch;
        if (function == 0 || call(function, CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, time) != 0) {
            return 0;
        }
        return NANOS_PER_SECOND * Memory.getLong(time) + Memory.getLong(time + Long.BYTES);
    }

    private long syscall() {
        if (syscall == 0) {
            syscall = findSymbol("syscall", "");
        }
        return syscall;
    }

    /// Minimum cost in ticks of reading the running thread's CPU time.
    public long threadClockTicks() {
        long function = syscall();
        long asking = Long.MAX_VALUE;
        long nothing = Long.MAX_VALUE;
        for (int i = 0; i < CLOCK_ATTEMPTS && function != 0; i++) {
            long begin = tsc();
            long unused = call(function, CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, scratch);
            long asked = tsc();
            unused = tsc();
            asking = Math.min(asking, asked - begin);
            nothing = Math.min(nothing, tsc() - asked);
        }
        return Math.max(1, asking - nothing);
    }

    /// Sets the plan by which slices are opened and closed while this thread waits in [#awaitOpening].
    ///
    /// @param plan address of a `struct mdl_slice_plan`, 0 for none
    public void planSlices(long plan) {
        call(function(ApiDescriptor.PLAN_SLICES), plan, 0, 0);
    }

    /// Renews the header's second clock pair and the agent's CPU time.
    public void renewClocks() {
        call(renewClocks, 0, 0, 0);
    }

    /// The images that the dynamic linker has loaded now, the executable first.
    public List<LoadedImage> images() {
        long capacity = call(function(ApiDescriptor.IMAGES), 0, 0, 0);
        try (NativeBuffer buffer = NativeBuffer.of(ImageDescriptor.SIZE * capacity)) {
            long count = Math.min(capacity, call(function(ApiDescriptor.IMAGES), buffer.address(), capacity, 0));
            List<LoadedImage> images = new ArrayList<>((int) count);
            for (long at = buffer.address(); images.size() < count; at += ImageDescriptor.SIZE) {
                images.add(new LoadedImage(
                        Memory.string(at + ImageDescriptor.PATH),
                        Memory.getLong(at + ImageDescriptor.BIAS),
                        Memory.getLong(at + ImageDescriptor.HEADERS),
                        Memory.getInt(at + ImageDescriptor.COUNT)));
            }
            return images;
        }
    }

    /// A number that changes whenever the dynamic linker loads or unloads an image.
    public long imageCounters() {
        return call(function(ApiDescriptor.COUNTERS), 0, 0, 0);
    }

    /// Prevents unloading of images until [#releaseImages]: their memory may be read, and [#show] may replace
    /// their text.
    ///
    /// @return false, without effect, while an image is being unloaded, or opened by a thread that waits
    public boolean holdImages() {
        return call(function(ApiDescriptor.HOLD), 0, 0, 0) != 0;
    }

    public void releaseImages() {
        call(function(ApiDescriptor.RELEASE), 0, 0, 0);
    }

    /// Sleeps until the application waits for the probes of an opened library (`--wait`), until a request
    /// arrives,
    /// or for `nanos`.
    ///
    /// @return how many libraries it has waited for so far, for [#followed]
    public long awaitOpening(long nanos) {
        return call(function(ApiDescriptor.AWAIT_OPENING), nanos, 0, 0);
    }

    /// Releases waiting threads of the application, up to this result of [#awaitOpening]: the images loaded
    /// at the
    /// last hold have probes.
    public void followed(long opened) {
        call(function(ApiDescriptor.FOLLOWED), opened, 0, 0);
    }

    /// Removes the clients of `count` probes, whose numbers (int) are at `probes`, because their library was
    /// unloaded. They accept no client until `SiteDescriptor.BODIES` is written again.
    public void forgetClients(long probes, int count) {
        call(function(ApiDescriptor.FORGET_CLIENTS), probes, count, 0);
    }

    /// Takes the pending request of the control socket, or null. [#answerRequest] must follow.
    public @Nullable String takeRequest() {
        long length = call(takeRequest, scratch, 0, 0);
        return length == 0 ? null : new String(Memory.copy(scratch, (int) length), StandardCharsets.UTF_8);
    }

    /// Answers the request that was taken; truncates the text to `MDL_ANSWER_MAX`.
    public void answerRequest(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (NativeBuffer at = NativeBuffer.of(bytes.length)) {
            Memory.put(at.address(), bytes);
            call(function(ApiDescriptor.ANSWER_REQUEST), at.address(), bytes.length, 0);
        }
    }

    /// Copies a text.
    ///
    /// @param text address of a [org.mdlagent.arch.layout.TextDescriptor], whose start and length
    ///     are multiples of the page size. Sets the mark, and replaces an alias of 0 by that of a new place
    /// @return 0, or `-errno`; `-ETXTBSY` if no copy may replace the text
    public long codeCopy(long text) {
        return call(function(ApiDescriptor.CODE_COPY), text, 0, 0);
    }

    /// Replaces texts by their copies, while images are held.
    ///
    /// @param texts address of `count` [org.mdlagent.arch.layout.TextDescriptor]s. The mark of texts that have
    ///     changed since they were copied is 0 afterwards; they are not replaced
    /// @return 0, or `-errno`; `-ESTALE`, and nothing is replaced, if an image was unloaded all the same
    public long show(long texts, long count) {
        return call(function(ApiDescriptor.SHOW), texts, count, 0);
    }

    /// Maps the files' text over copies, while images are held. [#show] shows the copies again.
    ///
    /// @param texts address of `count` [org.mdlagent.arch.layout.TextDescriptor]s. The alias of texts that the
    ///     program has mapped anew is 0 afterwards; they stay as they are
    /// @return 0, or `-errno`, and all copies stay; `-ENOENT` if a file has been replaced or removed: its text
    ///     has the mark 0
    public long hide(long texts, long count) {
        return call(function(ApiDescriptor.HIDE), texts, count, 0);
    }

    /// Alias of the first copy of text. Others are as far from it as they are from the start of the file
    /// `mdl-text`.
    public long textAlias() {
        return Memory.getLong(table + ApiDescriptor.TEXT);
    }

    /// Maps new executable memory at exactly `at`.
    ///
    /// @return its alias, or `-errno`; `-EEXIST` if the address is taken
    public long codeMap(long at, long length) {
        return call(function(ApiDescriptor.CODE_MAP), at, length, 0);
    }

    @Override
    public void store(long alias, long value, int size) {
        call(store, alias, value, size);
    }

    @Override
    public void replace(long alias, long mask, long value) {
        call(replace, alias, mask, value);
    }

    @Override
    public void replaceAll(StoreList stores) {
        int words = stores.words();
        int most = Math.min(words, STORES_MAX * StoreList.WORDS);
        try (NativeBuffer copy = NativeBuffer.of((long) most * Long.BYTES)) {
            long buffer = copy.address();
            for (int from = 0; from < words; from += most) {
                int count = Math.min(most, words - from);
                stores.copy(from, count, buffer);
                call(replaceAll, buffer, count / StoreList.WORDS, 0);
            }
        }
    }

    /// Spins until the time-stamp counter has reached `tsc`, and returns its value. Blocks the thread and the
    /// collector, so wait for microseconds only.
    public long waitUntil(long tsc) {
        return call(waitUntil, tsc, 0, 0);
    }

    /// From now on redirects threads that execute a trapping byte of the session's [TrapTable].
    ///
    /// @throws IllegalStateException if the handler of SIGTRAP cannot be installed
    public void catchTraps() {
        long result = call(function(ApiDescriptor.CATCH_TRAPS), 0, 0, 0);
        if (result < 0) {
            throw new IllegalStateException("SIGTRAP cannot be caught: errno " + -result);
        }
    }

    /// Decodes the instruction at `code`, of which `length` bytes are readable, into the `struct
    /// mdl_instruction`
    /// at `out`.
    ///
    /// @return its length, or a negative number if it is invalid
    public long instruction(long code, long length, long out) {
        return call(instruction, code, length, out);
    }

    /// What an instruction does with general registers and status flags.
    ///
    /// @return a mask: bits 0 to 15 are the registers it reads, by number; 16 to 31 the registers it
    ///     overwrites; 32 to 37 the flags it reads (CF, PF, AF, ZF, SF, OF); 40 to 45 the flags it overwrites
    /// @throws IllegalArgumentException if it is invalid
    public long instructionUses(byte[] code, int offset, int length) {
        long scratch = Scratch.address();
        Memory.put(scratch, code, offset, length);
        long uses = call(instructionUses, scratch, length, 0);
        if (uses < 0) {
            throw new IllegalArgumentException("no instruction");
        }
        return uses;
    }

    /// Reserves the memory that counters of blocks are addressed in.
    ///
    /// @return its address, below 2 GiB
    /// @throws IllegalStateException if there is no room
    public long openBlocks(long bytes) {
        long at = call(function(ApiDescriptor.BLOCKS_OPEN), bytes, 0, 0);
        if (at < 0) {
            throw new IllegalStateException("no room below 2 GiB for counters: errno " + -at);
        }
        return at;
    }

    /// Removes the agent's threads, this one included, once the request that is being served has been answered. All
    /// probes must be off, and the files' texts shown. The session ends then.
    ///
    /// @throws IllegalStateException if no thread can be created for that
    public void leave() {
        long error = call(function(ApiDescriptor.LEAVE), 0, 0, 0);
        if (error < 0) {
            throw new IllegalStateException("no thread can be created: errno " + -error);
        }
    }

    /// The registers eax, ebx, ecx and edx of a CPUID leaf; empty if the processor lacks the leaf.
    public int[] cpuid(int leaf, int subleaf) {
        try (NativeBuffer out = NativeBuffer.of((long) CPUID_REGISTERS * Integer.BYTES)) {
            if (call(function(ApiDescriptor.CPUID), Integer.toUnsignedLong(leaf), subleaf, out.address()) < 0) {
                return new int[0];
            }
            int[] registers = new int[CPUID_REGISTERS];
            for (int i = 0; i < registers.length; i++) {
                registers[i] = Memory.getInt(out.address() + (long) i * Integer.BYTES);
            }
            return registers;
        }
    }

    /// Returns when every core that runs a thread of this process has executed a serialising instruction
    /// since the
    /// call began: `MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE`, membarrier(2).
    ///
    /// @throws IllegalStateException if the kernel refuses
    public void syncCores() {
        long result = call(syncCores, 0, 0, 0);
        if (result < 0) {
            throw new IllegalStateException("membarrier SYNC_CORE is refused: errno " + -result);
        }
    }

    /// Switches `count` sites, whose indices are at `sites`, on or off; returns the number of stores.
    public long toggle(long sites, int count, boolean on) {
        return call(toggle, sites, count, on ? 1 : 0);
    }

    /// Attaches `function`, which follows the C calling convention, to `count` probes, whose numbers (int)
    /// are at `probes`; 0: detaches.
    ///
    /// @return an `enum fastinst_status` of `fastinst.h`; when it is not 0 nothing has changed
    public long attach(long probes, int count, long function) {
        return call(attach, probes, count, function);
    }

    /// Lets `code`, which the instruction set has made for this probe, run there; 0: nothing.
    ///
    /// @return an `enum fastinst_status` of `fastinst.h`; when it is not 0 nothing has changed
    public long snippets(int probe, long code) {
        return call(snippets, probe, code, 0);
    }

    /// The function to attach to probes that only count, in the threads' blocks.
    public long counter() {
        return Memory.getLong(table + ApiDescriptor.COUNTER);
    }

    /// Switches the probes of `count` functions on: indices (int) at `functions`, maximum durations in
    /// ticks (long)
    /// at `longest`. Skips a function whose probes an application thread is just switching off.
    ///
    /// @return the number of stores made to sites
    public long arm(long functions, long longest, int count) {
        return call(arm, functions, longest, count);
    }

    /// Switches the probes of `count` functions off, whose indices (int) are at `functions`.
    ///
    /// @return the number of stores made to sites
    public long disarm(long functions, int count) {
        return call(disarm, functions, count, 0);
    }

    /// CPU time in nanoseconds of the program's threads, each since its first probe.
    public long programCpuNanos() {
        return call(programCpu, 0, 0, 0);
    }

    /// Starts to count an event of `perf_event_open(2)`.
    ///
    /// @param reach what else than the thread is counted, `enum mdl_event_reach`
    /// @return a descriptor, or `-errno`
    long openEvent(KernelEvent event, int tid, int reach) {
        return call(function(ApiDescriptor.EVENT_OPEN), (long) event.type() << 32 | event.number(), tid, reach);
    }

    /// The count of an event, or `-errno`.
    long readEvent(long descriptor) {
        return call(function(ApiDescriptor.EVENT_READ), descriptor, 0, 0);
    }

    void closeEvent(long descriptor) {
        call(function(ApiDescriptor.EVENT_CLOSE), descriptor, 0, 0);
    }

    /// Starts to sample a thread in user mode, once per `periodNanos` of its CPU time.
    ///
    /// @param process row of the thread's process
    /// @return how many samples fit in the buffer, or `-errno`
    long openPcSampler(int tid, long periodNanos, long process) {
        return call(function(ApiDescriptor.PC_OPEN), tid, periodNanos, process);
    }

    /// Chooses what is sampled instead of CPU time.
    void choosePcSampler(KernelEvent event) {
        call(function(ApiDescriptor.PC_CHOOSE), event.number(), 0, 0);
    }

    /// @param on 1 resumes sampling, 0 pauses it, -1 ends it until threads are opened again
    void switchPcSampler(int on) {
        call(function(ApiDescriptor.PC_SWITCH), on, 0, 0);
    }

    /// Counts samples until none is left, or until one has addresses without known frames: stores these
    /// addresses
    /// in `places`, as many as fit.
    ///
    /// @return the number of these addresses
    int takePcSamples(long places, int capacity, int weight) {
        return (int) call(function(ApiDescriptor.PC_TAKE), places, capacity, weight);
    }

    /// Adds a thread's time off the processors since the last call to the call path that it waits on now.
    ///
    /// @param places gets the addresses of that path without known frames, at most 32; then nothing is added
    /// @return the number of these addresses
    int takeWait(int tid, int pid, long places) {
        return (int) call(function(ApiDescriptor.PC_WAIT), tid, pid, places);
    }

    void placePcFrame(long address, int frame, int outer) {
        call(function(ApiDescriptor.PC_PLACE), address, frame, outer);
    }

    int addPcFrame(long row) {
        return (int) call(function(ApiDescriptor.PC_FRAME), row, 0, 0);
    }

    void forgetPcFrames() {
        call(function(ApiDescriptor.PC_FORGET), 0, 0, 0);
    }

    /// Reads the names of a process's JIT-compiled code (`/tmp/perf-PID.map`) into `text`, as many bytes as fit.
    ///
    /// @return how many there are, or `-errno`
    long readPerfMap(int pid, long text, long capacity) {
        return call(function(ApiDescriptor.PC_MAP), pid, text, capacity);
    }

    /// Lists the threads of a process, without the agent's. Stores their ids (int) in `tids`, as many as fit.
    ///
    /// @return how many there are, or `-errno`
    long threads(int pid, long tids, int capacity) {
        return call(function(ApiDescriptor.THREADS), pid, tids, capacity);
    }

    /// The address that the dynamic linker resolves a symbol to for the program, or 0.
    ///
    /// @param version of the symbol, "" for any
    public long findSymbol(String symbol, String version) {
        try (NativeBuffer name = NativeBuffer.of(symbol);
                NativeBuffer ofVersion = NativeBuffer.of(version)) {
            return call(function(ApiDescriptor.FIND_SYMBOL), name.address(), ofVersion.address(), 0);
        }
    }

    /// Changes a word that the program calls through, if its value is `expected`.
    ///
    /// @param readOnly whether its page is read-only
    /// @return 1, or 0 if it has another value, or `-errno`
    public long exchangeImport(long word, long expected, long value, boolean readOnly) {
        try (NativeBuffer change = NativeBuffer.of(3L * Long.BYTES)) {
            Memory.put(change.address(), new long[] {word, expected, value}, 0, 3);
            return call(function(ApiDescriptor.EXCHANGE_IMPORT), change.address(), readOnly ? 1 : 0, 0);
        }
    }

    @Override
    public byte @Nullable [] readKept(String name) {
        try (NativeBuffer ofName = NativeBuffer.of(name)) {
            long size = call(function(ApiDescriptor.KEPT_READ), ofName.address(), 0, 0);
            if (size <= 0) {
                return null;
            }
            try (NativeBuffer bytes = NativeBuffer.of(size)) {
                long read = call(function(ApiDescriptor.KEPT_READ), ofName.address(), bytes.address(), size);
                return read == size ? Memory.copy(bytes.address(), (int) size) : null;
            }
        }
    }

    @Override
    public long writeKept(String name, byte[] bytes) {
        try (NativeBuffer ofName = NativeBuffer.of(name);
                NativeBuffer copy = NativeBuffer.of(bytes.length)) {
            Memory.put(copy.address(), bytes);
            return call(function(ApiDescriptor.KEPT_WRITE), ofName.address(), copy.address(), bytes.length);
        }
    }

    /// The functions for [Descriptors].
    long descriptors(long field, long first, long second, long third) {
        return call(function(field), first, second, third);
    }

    /// A word of the table.
    long entry(long field) {
        return Memory.getLong(table + field);
    }

    /// Zeroed, 64-byte aligned memory of the session, or 0 if the session cannot grow.
    public long allocate(long bytes) {
        return call(allocate, bytes, 0, 0);
    }

    /// Decodes `length` bytes at `code`: `lengths[i]` becomes the length of the instruction that starts at
    /// `i`, 0
    /// inside one.
    ///
    /// @return the number of bytes decoded before the first invalid instruction
    public long decode(long code, long length, long lengths) {
        return call(decode, code, length, lengths);
    }

    /// The demangled form of `symbol`, or `symbol` itself if it is not mangled.
    public String demangle(String symbol) {
        if (!symbol.startsWith("_Z")) {
            return Objects.requireNonNullElse(RustName.of(symbol), symbol);
        }
        byte[] bytes = symbol.getBytes(StandardCharsets.UTF_8);
        if (bytes.length >= SYMBOL_BYTES) {
            return symbol;
        }
        long in = scratch;
        Memory.put(in, bytes);
        Memory.putByte(in + bytes.length, (byte) 0);
        long out = in + SYMBOL_BYTES;
        long length = call(demangle, in, out, 2L * SYMBOL_BYTES);
        return length < 0 ? symbol : OldRustName.of(new String(Memory.copy(out, (int) length), StandardCharsets.UTF_8));
    }
}
