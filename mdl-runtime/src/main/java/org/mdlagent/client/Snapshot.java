package org.mdlagent.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.FunctionGlob;

/// What was measured up to one moment. It does not change.
public final class Snapshot {
    private static final double MEDIAN = 50;
    private static final double P99 = 99;

    private final List<Function> functions;
    private final List<FunctionBlocks> blocks;
    private final List<Metric> metrics;

    private Snapshot(List<Function> functions, List<FunctionBlocks> blocks, List<Metric> metrics) {
        this.functions = functions;
        this.blocks = blocks;
        this.metrics = metrics;
    }

    static Snapshot of(SessionReader reader) throws IOException {
        Profile profile = reader.profile();
        List<FunctionBlocks> blocks = profile.session().collected().hasBlocks() ? reader.blocks(profile) : List.of();
        return new Snapshot(
                profile.functions().stream().map(Snapshot::function).toList(),
                blocks,
                profile.metrics().stream().map(Snapshot::metric).toList());
    }

    private static Function function(FunctionProfile of) {
        boolean timed = of.sampled() > 0;
        String file = of.file();
        return new Function(
                of.name(),
                of.image(),
                new Line(file == null ? "" : file, of.line()),
                of.on(),
                of.calls(),
                timed ? of.totalNanos() : OptionalLong.empty(),
                timed ? of.percentileNanos(MEDIAN) : OptionalLong.empty(),
                timed ? of.percentileNanos(P99) : OptionalLong.empty(),
                timed ? of.latency().maxNanos() : OptionalLong.empty());
    }

    private static Metric metric(MetricValue of) {
        return new Metric(of.request(), of.name(), of.units(), of.amount(), of.seconds());
    }

    /// All functions with probes, called or not.
    public List<Function> functions() {
        return functions;
    }

    /// The functions that match a pattern: `FUNCTION`, `IMAGE!FUNCTION` or `FILE:FUNCTION` with `*` and `?`. Empty if
    /// none does.
    public List<Function> functions(String pattern) {
        FunctionGlob glob = glob(pattern);
        return functions.stream()
                .filter(function ->
                        glob.matches(function.image(), function.source().file(), function.name()))
                .toList();
    }

    /// Sum of the calls of the functions that match a pattern.
    ///
    /// @throws MdlException if none does
    public long calls(String pattern) {
        List<Function> found = functions(pattern);
        if (found.isEmpty()) {
            throw new MdlException(
                    "no function with probes is " + pattern,
                    "Measurement.include adds functions of libraries; functions() lists all");
        }
        return found.stream().mapToLong(Function::calls).sum();
    }

    /// The basic blocks of all functions whose blocks are counted.
    ///
    /// @throws MdlException if the measurement does not count blocks, or of no function
    public List<Block> blocks() {
        List<Block> all = new ArrayList<>();
        for (FunctionBlocks of : counted("blocks")) {
            for (FunctionBlocks.Block block : of.blocks()) {
                all.add(new Block(
                        of.function().name(),
                        of.function().image(),
                        block.address(),
                        block.size(),
                        block.instructions(),
                        block.count(),
                        block.lines().stream().map(Snapshot::line).toList()));
            }
        }
        return all;
    }

    /// The arcs between basic blocks of all functions whose arcs are counted.
    ///
    /// @throws MdlException if the measurement does not count arcs, or of no function
    public List<Arc> arcs() {
        List<Arc> all = new ArrayList<>();
        for (FunctionBlocks of : counted("arcs")) {
            for (FunctionBlocks.Arc arc : of.arcs()) {
                FunctionBlocks.Way way = arc.way();
                all.add(new Arc(
                        of.function().name(),
                        of.function().image(),
                        way.kind().name().toLowerCase(Locale.ROOT),
                        address(way.from()),
                        address(way.to()),
                        arc.count()));
            }
        }
        if (all.isEmpty()) {
            throw notCounted("arcs");
        }
        return all;
    }

    private List<FunctionBlocks> counted(String what) {
        if (blocks.isEmpty()) {
            throw notCounted(what);
        }
        return blocks;
    }

    private static MdlException notCounted(String what) {
        return new MdlException(
                "the session has no counts of " + what,
                "measure with Measurement." + what + "(); its agent.log may say more");
    }

    private static Line line(SourceLine of) {
        return new Line(of.file(), of.line());
    }

    private static OptionalLong address(long of) {
        return of == FunctionBlocks.OUTSIDE ? OptionalLong.empty() : OptionalLong.of(of);
    }

    /// The enabled metrics, and those that were enabled at the program's end.
    public List<Metric> metrics() {
        return metrics;
    }

    /// The metric of a request, such as `io_wait` or `procedure_calls@/Code/aof.c`.
    ///
    /// @throws MdlException if it is not enabled
    public Metric metric(String request) {
        for (Metric metric : metrics) {
            if (metric.request().equals(request)) {
                return metric;
            }
        }
        String hint =
                Spelling.hint(request, metrics.stream().map(Metric::request).toList());
        throw new MdlException(
                "the metric " + request + " is not enabled", hint == null ? "Program.enableMetric starts it" : hint);
    }

    static FunctionGlob glob(String pattern) {
        try {
            return FunctionGlob.of(pattern);
        } catch (IllegalArgumentException e) {
            throw new MdlException(String.valueOf(e.getMessage()), "as in work*, libz.so*!deflate* or server.c:*");
        }
    }
}
