package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.arch.cpu.KnownCalibration;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.DecoderLibrary;
import org.mdlagent.arch.shim.PerfEvents;
import org.mdlagent.fastinst.provider.BareEntryProvider;
import org.mdlagent.fastinst.provider.GoProvider;
import org.mdlagent.fastinst.provider.Instrumentation;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.names.Demangler;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl doctor`: says what works on this machine or with a program, what does not, and what to do about it.
@Command(
        name = "doctor",
        description =
                "Say what works on this machine, with a program, or with a running process, what does not, and what"
                        + " to do about it.",
        customSynopsis = "mdl doctor [PROGRAM|PID]")
public final class DoctorCommand implements Callable<Integer> {
    private static final long SHARED_MEMORY_MIN = 64L << 20;

    /// Of a control group: the agent takes some 50 MiB beside the program.
    private static final long MEMORY_MIN = 256L << 20;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            arity = "0..1",
            paramLabel = "PROGRAM|PID",
            description = "The program to run, or the process to attach to.")
    private @Nullable String program;

    private boolean blocked;

    @Override
    public Integer call() throws IOException {
        checkProcessor();
        checkKernel();
        checkConfinement(Confinement.read(Path.of("/")));
        checkMemory();
        checkSessions();
        checkInstallation();
        checkTmax();
        checkCompilers();
        if (program != null) {
            if (program.matches("[0-9]{1,9}") && !Files.exists(Path.of(program))) {
                checkProcess(TargetProcess.read(Integer.parseInt(program)));
            } else {
                checkProgram(program);
            }
        }
        return blocked ? CommandFailure.FAILED : 0;
    }

    private void say(Finding finding, String subject, String text) {
        blocked |= finding == Finding.STOP;
        mdl.console().out().printf("%s  %-14s %s%n", finding.word(), subject, text);
    }

    private void checkTmax() {
        Path trial = mdl.installation().library().resolveSibling("mdl-calibrate-trial");
        try {
            KnownCalibration known = KnownCalibration.find(
                    CpuIdentity.ofProgram(trial),
                    Calibration.files(System.getenv("XDG_STATE_HOME"), System.getenv("HOME")),
                    ignored -> say(Finding.NOTE, "T_max", ignored));
            say(
                    Finding.OK,
                    "T_max",
                    known == null
                            ? "not known: jumps in steps wait by membarrier, and stay in programs that fork; mdl"
                                    + " calibrate measures it"
                            : "%,d ticks, of %s".formatted(known.calibration().tmaxTicks(), known.file()));
        } catch (IOException e) {
            say(Finding.NOTE, "T_max", "not known: " + e.getMessage());
        }
    }

    private void checkProcessor() throws IOException {
        Map<String, String> cpu = firstProcessor();
        String name = cpu.getOrDefault("model name", "unknown") + " (" + cpu.getOrDefault("vendor_id", "unknown") + ")";
        if (!System.getProperty("os.arch").equals("amd64")) {
            say(Finding.STOP, "CPU", name + ": the agent knows 64-bit x86 only");
            return;
        }
        say(Finding.OK, "CPU", name);
        List<String> flags = List.of(cpu.getOrDefault("flags", "").split(" "));
        if (flags.contains("constant_tsc") && flags.contains("nonstop_tsc")) {
            say(Finding.OK, "clock", "the TSC is invariant: ticks are time");
        } else {
            say(
                    Finding.NOTE,
                    "clock",
                    "the TSC is not known to be invariant: durations may be wrong; counts are right");
        }
    }

    private static Map<String, String> firstProcessor() throws IOException {
        Map<String, String> facts = new HashMap<>();
        for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
            int colon = line.indexOf(':');
            if (colon < 0) {
                break;
            }
            facts.put(
                    line.substring(0, colon).strip(), line.substring(colon + 1).strip());
        }
        return facts;
    }

    private void checkKernel() throws IOException {
        String version = System.getProperty("os.version");
        if (Posix.membarrierSyncCore()) {
            say(Finding.OK, "kernel", version + ", membarrier makes every core see new code");
        } else {
            say(Finding.STOP, "kernel", version + " has no membarrier SYNC_CORE: " + Remedies.membarrier(version));
        }
        String noexec = content("/proc/sys/vm/memfd_noexec");
        if (noexec == null || noexec.equals("0") || noexec.equals("1")) {
            say(Finding.OK, "code memory", "memfds may be executable");
        } else {
            say(Finding.STOP, "code memory", "memfds may not be executable: sysctl vm.memfd_noexec=1 allows it");
        }
        String refusal = TraceRight.ofThisProcess().refusal();
        say(
                Finding.OK,
                "ptrace",
                "needed by mdl attach alone, " + (refusal == null ? "and permitted" : "which it refuses: " + refusal));
        checkPerf();
    }

    /// Root's threads, and those with CAP_PERFMON, are sampled in any case.
    private void checkPerf() {
        int paranoid = PerfEvents.paranoid();
        if (paranoid <= PerfEvents.SAMPLING_MAX || Posix.effectiveUser() == 0) {
            say(Finding.OK, "perf", "not needed; CPU time is sampled: perf_event_paranoid is " + paranoid);
        } else {
            say(
                    Finding.NOTE,
                    "perf",
                    "CPU time is not sampled, all else is as usual: "
                            + PerfEvents.refusal(paranoid, PerfEvents.SAMPLING_MAX, "it"));
        }
    }

    private static @Nullable String content(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return null;
        }
    }

    private void checkConfinement(Confinement confinement) {
        if (confinement.filtered()) {
            say(
                    Finding.NOTE,
                    "seccomp",
                    "a filter decides on system calls, as in most containers: where it refuses unshare(2), the agent"
                            + " shares the program's descriptors; a filter must not end the process for what the agent"
                            + " does");
        } else {
            say(Finding.OK, "seccomp", "no filter");
        }
        if (confinement.noNewPrivileges()) {
            say(
                    Finding.NOTE,
                    "privileges",
                    "no_new_privs is set: programs that would change their user run as you do, and with the agent");
        }
        if (confinement.addressSpaceMax() != Long.MAX_VALUE) {
            say(
                    Finding.NOTE,
                    "address space",
                    "ulimit -v is " + (confinement.addressSpaceMax() >> 20)
                            + " MiB: where 1152 of them are not free, the program runs without the agent; ulimit -v"
                            + " unlimited");
        }
        if (confinement.memoryMax() < MEMORY_MIN) {
            say(
                    Finding.NOTE,
                    "memory",
                    "the control group may have " + (confinement.memoryMax() >> 20)
                            + " MiB: the agent takes some 50 of them, and sessions in /dev/shm count too");
        }
    }

    private void checkMemory() {
        try {
            FileStore store = Files.getFileStore(Path.of("/dev/shm"));
            long free = store.getUsableSpace();
            String sizes = (free >> 20) + " MiB of " + (store.getTotalSpace() >> 20) + " free";
            if (free >= SHARED_MEMORY_MIN) {
                say(Finding.OK, "/dev/shm", sizes);
            } else {
                say(
                        Finding.NOTE,
                        "/dev/shm",
                        sizes
                                + ": a session may not fit, and is then a file in its directory; "
                                + Remedies.sharedMemory(store.getTotalSpace()));
            }
        } catch (IOException e) {
            say(Finding.NOTE, "/dev/shm", "there is none: a session is a file in its directory");
        }
    }

    private void checkSessions() {
        Path root = mdl.store().root();
        Path existing = root;
        while (existing != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        if (existing != null && Files.isDirectory(existing) && Files.isWritable(existing)) {
            say(Finding.OK, "sessions", root + " can be written");
        } else {
            say(
                    Finding.NOTE,
                    "sessions",
                    root + " cannot be written: sessions go to /tmp; set XDG_STATE_HOME, or use mdl run -o DIR");
        }
    }

    private void checkInstallation() throws IOException {
        Installation installation = mdl.installation();
        require(installation.library(), "library");
        require(installation.runtime().resolve("lib/server/libjvm.so"), "runtime");
        Path cache = installation.runtime().resolve("lib/agent.aot");
        if (!Files.isReadable(cache)) {
            say(
                    Finding.NOTE,
                    "AOT cache",
                    cache + " is missing: the agent starts slower; build anew, or install again");
        } else {
            say(Finding.OK, "AOT cache", cache.toString());
        }
    }

    /// With which option C++ gets probes. In C all do.
    private void checkCompilers() {
        for (String compiler : CompilerTrial.compilers(System.getenv("CXX"), System.getenv("PATH"))) {
            try {
                CompilerTrial.Choice choice = CompilerTrial.best(compiler);
                if (choice == null) {
                    say(Finding.NOTE, compiler, "builds no program with probes; try it by hand");
                } else {
                    say(
                            Finding.OK,
                            compiler,
                            "compile C++ with " + choice.compiling()
                                    + (choice.compilesOnly()
                                            ? ", and link without; it links no C++ that has "
                                                    + CompilerTrial.Choice.PATCHABLE.compiling()
                                            : ""));
                }
            } catch (IOException e) {
                say(Finding.NOTE, compiler, "cannot be tried: " + e.getMessage());
            }
        }
    }

    private void require(Path file, String subject) {
        if (Files.isReadable(file)) {
            say(Finding.OK, subject, file.toString());
        } else {
            say(Finding.STOP, subject, file + " is missing: build anew, or install again");
        }
    }

    private void checkProcess(TargetProcess process) throws IOException {
        int pid = process.pid();
        if (process.hasAgent()) {
            say(Finding.OK, "process", process.title() + " has the agent: mdl top " + pid);
            return;
        }
        say(Finding.OK, "process", process.title());
        List<CommandFailure> objections = process.objections(mdl.installation().library());
        for (CommandFailure objection : objections) {
            say(
                    Finding.STOP,
                    "attach",
                    objection.getMessage() + (objection.remedy() == null ? "" : ": " + objection.remedy()));
        }
        String refusal = TraceRight.ofThisProcess().refusal(process);
        if (refusal != null) {
            say(Finding.STOP, "attach", refusal);
        }
        if (objections.isEmpty() && refusal == null) {
            say(Finding.OK, "attach", "nothing prevents it: mdl attach " + pid);
        }
        if (process.hasSeccompFilter()) {
            say(
                    Finding.NOTE,
                    "seccomp",
                    "a filter decides on its system calls; mdl attach evaluates it first, and refuses if it may end the"
                            + " process");
        }
        if (process.room().memory() < AttachRoom.MEMORY_MIN) {
            say(
                    Finding.NOTE,
                    "memory",
                    "its control group may take only " + (process.room().memory() >> 20)
                            + " MiB more: the agent takes some 50 of them, and sessions in /dev/shm count too");
        }
        int blocking = process.threadsThatBlockTraps();
        if (blocking > 0) {
            say(
                    Finding.NOTE,
                    "traps",
                    blocking
                            + " of its threads block SIGTRAP or SIGILL: 5 to 40 % of unmodified functions get no probe");
        }
        Path executable = Path.of("/proc/" + pid + "/exe");
        checkProbes(executable, process.executable(), ProgramFile.examine(executable));
    }

    private void checkProgram(String name) throws IOException {
        Path path = ProgramFile.find(name, System.getenv("PATH"));
        if (path == null || !Files.isRegularFile(path)) {
            throw CommandFailure.failed("there is no program " + name, null);
        }
        if (!Files.isReadable(path)) {
            say(Finding.NOTE, name, "cannot be read: nothing can be said of it before it runs");
            return;
        }
        ProgramFile file = ProgramFile.examine(path);
        switch (file.kind()) {
            case OTHER -> {
                say(Finding.NOTE, name, "not an ELF file: the agent goes into what it starts");
                return;
            }
            case FOREIGN_ELF -> {
                say(Finding.STOP, name, "not a 64-bit x86 program: the agent cannot be loaded");
                return;
            }
            case ELF -> say(Finding.OK, name, path + ", 64-bit x86");
        }
        if (file.otherLibc()) {
            say(Finding.STOP, "linking", "with musl: the agent steps aside; link it with glibc");
        } else if (file.dynamic()) {
            say(Finding.OK, "linking", "dynamic: the agent can be loaded");
        } else if (file.library()) {
            say(Finding.NOTE, "linking", "a library: its functions have probes in programs that load it");
        } else {
            say(
                    Finding.STOP,
                    "linking",
                    "static: the agent cannot be loaded; link it dynamically (Go: CGO_ENABLED=1 go build -ldflags=-linkmode=external)");
        }
        if (file.setUser()) {
            say(
                    Finding.STOP,
                    "user",
                    "it changes its user: the system loads nothing of ours; run a copy without that bit");
        }
        checkProbes(path, path.toString(), file);
        if (file.debugInfo()) {
            say(Finding.OK, "debug info", "source files and lines are known");
        } else {
            say(Finding.NOTE, "debug info", "none: no source files and lines; compile with -g");
        }
        if (file.sanitizer() == null) {
            say(Finding.OK, "sanitizers", "none");
        } else if (file.sanitizer().equals("ASan")) {
            say(Finding.NOTE, "sanitizers", "ASan: set ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0");
        } else {
            say(Finding.STOP, "sanitizers", file.sanitizer() + " does not bear the agent; build without it");
        }
        if (file.java()) {
            say(Finding.STOP, "Java", "it hosts a Java runtime, of which a process can have one only");
        }
    }

    /// @param name of the program, which decides what is left alone
    private void checkProbes(Path path, String name, ProgramFile file) {
        Instrumentation instrumentation = file.instrumentation();
        if (instrumentation != null) {
            say(Finding.OK, "probes", "compiled with " + instrumentation.option());
            return;
        }
        if (file.gprof()) {
            say(Finding.STOP, "probes", "it measures itself with gprof; compile it with -pg, but link it without");
            return;
        }
        try (ElfFile elf = ElfFile.open(path)) {
            if (elf.isGo()) {
                String reason = GoProvider.leftAlone(elf);
                if (reason == null) {
                    say(Finding.OK, "probes", "in Go: calls are counted, in " + GoProvider.census(elf));
                } else {
                    say(Finding.STOP, "probes", "none: in Go, and " + reason);
                }
                return;
            }
            String leftAlone = BareEntryProvider.leftAlone(name);
            if (leftAlone != null) {
                say(Finding.STOP, "probes", "none: " + leftAlone);
                return;
            }
            Path libraries = mdl.installation().library().resolveSibling("");
            CensusFindings.say(
                    EntryCensus.of(
                            elf,
                            new DecoderLibrary(libraries)::decode,
                            new Demangler(mdl.installation().demangler())::demangle,
                            BareEntryProvider.covered(name),
                            null),
                    this::say);
        } catch (IOException e) {
            say(Finding.STOP, "probes", "its functions cannot be found: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            say(Finding.NOTE, "probes", "which functions can be probed is not known: " + e.getMessage());
        }
    }
}
