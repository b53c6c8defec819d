package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.Collector;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.LibraryName;
import org.mdlagent.runtime.options.AgentLog;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;

/// Gives probes to the library in which the program spends much of its CPU time. Not if the options say which
/// functions have probes, and not in a family of processes: processes forked before would not get them.
final class HotLibraries {
    /// How many functions may get probes per second of the program's CPU time so far: placing them takes some
    /// 30 microseconds each.
    private static final double FUNCTIONS_PER_SECOND = 2_000;

    /// Seconds of CPU time before the first check, and by what factor they grow from check to check.
    private static final double FIRST_SECONDS = 0.2;

    private static final double NEXT = 1.5;

    private final long header;
    private final Probes probes;
    private final Collector collector;
    private final OnDemand onDemand;
    private final AgentOptions options;
    private final AgentLog log;

    private double next = FIRST_SECONDS;
    private final Set<String> probed = new HashSet<>();

    HotLibraries(
            long header, Probes probes, Collector collector, OnDemand onDemand, AgentOptions options, AgentLog log) {
        this.header = header;
        this.probes = probes;
        this.collector = collector;
        this.onDemand = onDemand;
        this.options = options;
        this.log = log;
    }

    void look() throws IOException {
        double seconds = Memory.getLong(header + HeaderDescriptor.PROGRAM_CPU_NANOS) / 1e9;
        boolean chosen = !options.functions().include().isEmpty();
        if (seconds < next || chosen || Memory.getLongAcquire(header + HeaderDescriptor.FORKS) != 0) {
            return;
        }
        next = NEXT * seconds;
        String image = collector.hotImage();
        String name = image == null ? "" : BaseName.of(loaded(image));
        if (LibraryName.isProbeable(name) && probed.add(name)) {
            open(name, (int) Math.min(options.libraryFunctions(), FUNCTIONS_PER_SECOND * seconds));
        }
    }

    /// The name by which a file was loaded: often that of a link, as `libz.so.1` of `libz.so.1.2.13`.
    private String loaded(String file) {
        return probes.images().stream()
                .filter(path -> isFile(path, file))
                .findFirst()
                .orElse(file);
    }

    private static boolean isFile(String path, String file) {
        try {
            return Path.of(path).toRealPath().toString().equals(file);
        } catch (IOException | InvalidPathException e) {
            return false;
        }
    }

    private void open(String name, int most) throws IOException {
        FunctionGlob all = FunctionGlob.of(name + "!*");
        try {
            onDemand.open(all, most);
            List<Integer> functions = probes.functions(new Matching(all));
            collector.reopen(functions);
            log.line(name + ": " + functions.size() + " functions have probes from now on, because much of the CPU"
                    + " time is there");
        } catch (IllegalArgumentException | IllegalStateException e) {
            log.line(name + ": no probes yet, though much of the CPU time is there: " + e.getMessage());
            if (most < options.libraryFunctions()) {
                probed.remove(name); // later there may be: checks become rarer
            }
        }
    }
}
