package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.DwarfScopes;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.profiler.report.profile.FunctionBlocks;

/// A sample profile as text for clang (`-fprofile-sample-use`), from the exact counts of basic blocks. The format is
/// that of LLVM's `SampleProfReader.h`:
///
///     main:184019:1
///      4: 534
///      6: 2080
///      10: inlined:1000
///       1: 1000
///
/// Numbers before the colon are lines, from the function's declaration on. A line ran as often as its block that ran
/// most. Lines of an inlined call are below the line of the call. Discriminators, which tell blocks of one line apart,
/// are not written.
public final class LlvmSampleReport {
    /// LLVM's limit of a line's offset.
    private static final int OFFSET_MASK = 0xffff;

    private final DwarfLines lines;
    private final DwarfScopes scopes;
    private final Map<String, Profiled> functions = new TreeMap<>();

    /// Body of a function, or of an inlined call.
    private static final class Profiled {
        final Map<Integer, Long> counts = new TreeMap<>();
        final Map<Integer, Map<String, Profiled>> inlined = new TreeMap<>();
        long calls;

        void count(int offset, long count) {
            counts.merge(offset, count, Math::max);
        }

        Profiled inlined(int offset, String name) {
            return inlined.computeIfAbsent(offset, unused -> new TreeMap<>())
                    .computeIfAbsent(name, unused -> new Profiled());
        }

        long total() {
            long sum = counts.values().stream().mapToLong(Long::longValue).sum();
            for (Map<String, Profiled> calls : inlined.values()) {
                sum += calls.values().stream().mapToLong(Profiled::total).sum();
            }
            return sum;
        }

        void write(String indent, Appendable out) throws IOException {
            for (Map.Entry<Integer, Long> count : counts.entrySet()) {
                out.append(indent)
                        .append(count.getKey() + ": " + count.getValue())
                        .append('\n');
            }
            for (Map.Entry<Integer, Map<String, Profiled>> line : inlined.entrySet()) {
                for (Map.Entry<String, Profiled> call : line.getValue().entrySet()) {
                    out.append(indent)
                            .append(line.getKey() + ": " + call.getKey() + ":"
                                    + call.getValue().total())
                            .append('\n');
                    call.getValue().write(indent + " ", out);
                }
            }
        }
    }

    private LlvmSampleReport(DwarfLines lines, DwarfScopes scopes) {
        this.lines = lines;
        this.scopes = scopes;
    }

    /// Writes the functions of one image.
    ///
    /// @return the number of functions written: those with calls and a known declaration
    public static int write(List<FunctionBlocks> functions, DwarfLines lines, DwarfScopes scopes, Appendable out)
            throws IOException {
        LlvmSampleReport report = new LlvmSampleReport(lines, scopes);
        report.add(functions);
        for (Map.Entry<String, Profiled> function : report.functions.entrySet()) {
            Profiled body = function.getValue();
            out.append(function.getKey() + ":" + body.total() + ":" + body.calls)
                    .append('\n');
            body.write(" ", out);
        }
        return report.functions.size();
    }

    private void add(List<FunctionBlocks> all) throws IOException {
        Map<Long, Long> counts = new TreeMap<>();
        for (FunctionBlocks function : all) {
            for (FunctionBlocks.Block block : function.blocks()) {
                for (long i = 0; i < block.size(); i++) {
                    counts.put(block.address() + i, block.count());
                }
            }
        }
        long[] addresses = counts.keySet().stream().mapToLong(Long::longValue).toArray();
        @Nullable SourceLine[] found = lines.at(addresses);
        Map<Long, SourceLine> known = new HashMap<>();
        for (int i = 0; i < addresses.length; i++) {
            SourceLine line = found[i];
            if (line != null) {
                known.put(addresses[i], line);
            }
        }
        for (FunctionBlocks function : all) {
            SourceLine first = known.get(start(function));
            for (FunctionBlocks.Block block : function.blocks()) {
                for (long at = block.address(); first != null && at < block.address() + block.size(); at++) {
                    SourceLine line = known.get(at);
                    if (line != null && block.count() > 0) {
                        add(function.function().symbol(), scopes.at(at), line, first.file(), block.count());
                    }
                }
            }
            addCalls(function);
        }
    }

    private static long start(FunctionBlocks function) {
        return function.blocks().stream()
                .mapToLong(FunctionBlocks.Block::address)
                .min()
                .orElse(0);
    }

    /// @param symbol of the outermost function: its debug information may lack it
    /// @param file of the outermost function: lines of other files are of calls whose scope is not known
    private void add(String symbol, List<DwarfScopes.Call> path, SourceLine line, String file, long count) {
        boolean known = !path.isEmpty() && path.stream().allMatch(call -> isKnown(call.function()));
        if (!known || path.size() == 1 && !line.file().equals(file)) {
            return;
        }
        DwarfScopes.Function function = path.getFirst().function();
        Profiled at = functions.computeIfAbsent(symbol, unused -> new Profiled());
        for (DwarfScopes.Call call : path.subList(1, path.size())) {
            at = at.inlined(offset(call.callLine(), function), call.function().name());
            function = call.function();
        }
        if (line.line() >= function.line()) {
            at.count(offset(line.line(), function), count);
        }
    }

    private static boolean isKnown(DwarfScopes.Function function) {
        return function.line() > 0 && !function.name().isEmpty();
    }

    private static int offset(int line, DwarfScopes.Function function) {
        return line - function.line() & OFFSET_MASK;
    }

    private void addCalls(FunctionBlocks function) {
        Profiled known = functions.get(function.function().symbol());
        if (known != null) {
            known.calls += function.function().calls();
        }
    }
}
