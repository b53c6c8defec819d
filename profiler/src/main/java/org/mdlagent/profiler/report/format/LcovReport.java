package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.text.ForeignText;

/// A tracefile of lcov (geninfo(1)), which `genhtml` and CI systems read: how often each function was
/// called, and the
/// line where it begins. A session that counts blocks knows how often other lines ran, too: as often as
/// the block with code
/// of the line that ran most often. Else no other line is in the file.
///
/// A coverage session knows whether a function was called, so its counts are 0 and 1. Functions without
/// a known source
/// line are not in the file ([#isLocated]).
public final class LcovReport {
    /// @param line  where the function begins
    /// @param calls of all functions with this symbol and file
    private record Entry(int line, long calls) {
        Entry plus(Entry other) {
            return new Entry(Math.min(line, other.line), Math.addExact(calls, other.calls));
        }
    }

    private LcovReport() {}

    /// Whether a function has a place in the tracefile.
    public static boolean isLocated(FunctionProfile function) {
        return function.file() != null && function.line() > 0;
    }

    public static void write(Profile profile, Appendable out) throws IOException {
        write(profile, List.of(), out);
    }

    /// @param blocks of functions, for a session that counts them
    public static void write(Profile profile, List<FunctionBlocks> blocks, Appendable out) throws IOException {
        boolean coverage = profile.session().collected() == Collected.COVERAGE;
        Map<String, Map<String, Entry>> files = new TreeMap<>();
        for (FunctionProfile function : profile.functions()) {
            if (isLocated(function) && function.damage() == null) {
                files.computeIfAbsent(oneField(String.valueOf(function.file())), file -> new TreeMap<>())
                        .merge(oneField(function.symbol()), new Entry(function.line(), function.calls()), Entry::plus);
            }
        }
        Map<String, Map<Integer, Long>> lines = lines(blocks);
        lines.keySet().forEach(file -> files.putIfAbsent(file, Map.of()));
        out.append("TN:\n");
        for (Map.Entry<String, Map<String, Entry>> file : files.entrySet()) {
            file(file.getKey(), file.getValue(), lines.getOrDefault(file.getKey(), Map.of()), coverage, out);
        }
    }

    /// How often lines ran, by file.
    private static Map<String, Map<Integer, Long>> lines(List<FunctionBlocks> functions) {
        Map<String, Map<Integer, Long>> lines = new TreeMap<>();
        for (FunctionBlocks function : functions) {
            for (FunctionBlocks.Block block : function.blocks()) {
                for (SourceLine line : block.lines()) {
                    lines.computeIfAbsent(oneField(line.file()), file -> new TreeMap<>())
                            .merge(line.line(), block.count(), Math::max);
                }
            }
        }
        return lines;
    }

    /// @param known how often lines ran
    private static void file(
            String file, Map<String, Entry> functions, Map<Integer, Long> known, boolean coverage, Appendable out)
            throws IOException {
        Map<Integer, Long> lines = new TreeMap<>();
        StringBuilder places = new StringBuilder();
        StringBuilder counts = new StringBuilder();
        functions.forEach((symbol, entry) -> {
            long calls = coverage ? Math.min(1, entry.calls) : entry.calls;
            places.append("FN:").append(entry.line).append(',').append(symbol).append('\n');
            counts.append("FNDA:").append(calls).append(',').append(symbol).append('\n');
            lines.merge(entry.line, calls, coverage ? Math::max : Math::addExact);
        });
        lines.putAll(known);
        long called =
                functions.values().stream().filter(entry -> entry.calls > 0).count();
        out.append("SF:").append(file).append('\n').append(places).append(counts);
        out.append("FNF:" + functions.size() + "\nFNH:" + called + "\n");
        for (Map.Entry<Integer, Long> line : lines.entrySet()) {
            out.append("DA:" + line.getKey() + "," + line.getValue() + "\n");
        }
        long met = lines.values().stream().filter(count -> count > 0).count();
        out.append("LF:" + lines.size() + "\nLH:" + met + "\nend_of_record\n");
    }

    /// Records end at line ends, and the fields of a record at commas.
    private static String oneField(String text) {
        return ForeignText.printable(text).replace(',', '?');
    }
}
