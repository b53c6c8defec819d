package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.code.FunctionCopy.Arc;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;

/// A session in which basic blocks and arcs are counted, as table, JSON and tracefile.
class BlocksReportsTest {
    private static final String APP = "/opt/app/bin/app";

    @TempDir
    private Path directory;

    private interface Report {
        void write(Profile profile, List<FunctionBlocks> blocks, List<NotProbed> notProbed, StringBuilder out)
                throws IOException;
    }

    private static SessionImage image(Collected collected) {
        SessionImage image = new SessionImage();
        image.putInt(HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_MIXED | collected.flags());
        image.putInt(HeaderDescriptor.EXIT_STATUS, 0);
        int main = image.function("main", "main", "/src/main.c", 3, APP);
        int parse = image.function("parse", "parse", "/src/parse.c", 42, APP);
        long first = image.thread(101);
        long second = image.thread(102);
        image.count(first, main, 1);
        image.count(second, parse, 7);
        long rows = image.blocks(4);
        // main is a loop of its second block; parse begins, and sometimes jumps out of itself.
        image.block(rows, 0, main, 0x1000, 4, "/src/main.c", 3, 4);
        image.block(rows + BlockDescriptor.SIZE, -1, main, 0x1010, 2, "/src/main.c", 4, 9);
        image.block(rows + 2 * BlockDescriptor.SIZE, -1, parse, 0x1100, 10, "/src/parse.c", 42);
        image.block(rows + 3 * BlockDescriptor.SIZE, 2, parse, 0x1128, 1, "");
        image.arcs(
                arc(-1, 0, Arc.Kind.ENTRY, -1, 0),
                arc(0, 1, Arc.Kind.NEXT, -1, 0),
                arc(1, 1, Arc.Kind.JUMP, 1, 0),
                arc(1, -1, Arc.Kind.LEAVE, -1, 0),
                arc(-1, 2, Arc.Kind.ENTRY, 3, 0),
                arc(2, -1, Arc.Kind.JUMP, -1, 0x2000),
                arc(2, 3, Arc.Kind.NEXT, -1, 0),
                arc(3, -1, Arc.Kind.LEAVE, -1, 0),
                arc(2, 2, Arc.Kind.UNFORESEEN, 2, 0));
        image.blockCounts(first, 1, 49, 0, 3);
        image.blockCounts(second, 0, 0, 2, 4);
        return image;
    }

    private static int[] arc(int from, int to, Arc.Kind kind, int counter, int target) {
        return new int[] {from, to, kind.code(), counter, target};
    }

    private String report(Report report) throws IOException {
        return report(Collected.BLOCKS, report);
    }

    private String report(Collected collected, Report report) throws IOException {
        image(collected).write(directory);
        Files.writeString(
                directory.resolve("agent.log"),
                "2026-11-29T13:13:58Z agent: " + APP
                        + ": of 3 functions are without block counts: 1 for: a transaction (x)\n");
        StringBuilder out = new StringBuilder();
        try (SessionReader reader = SessionReader.open(directory)) {
            Profile profile = reader.profile();
            report.write(profile, reader.blocks(profile), reader.notProbed(), out);
        }
        return out.toString();
    }

    @Test
    void shouldShowFunctionsAndBlocksByExecutedInstructions() throws IOException {
        String table = report(
                (profile, blocks, notProbed, out) -> new BlocksTable(24, false).write(profile, blocks, notProbed, out));

        assertThat(table).endsWith("""
            FUNCTION  CALLS  BLOCKS  RAN  INSTRUCTIONS    PART
            main          1       2    2           104   59.1%
            parse         7       2    2            72   40.9%
            all           8       4    4           176  100.0%

            BLOCK                          COUNT  INSTRUCTIONS   PART
            main 0x1010 main.c:4 main.c:9     50             2  56.8%
            parse 0x1100 parse.c:42            7            10  39.8%
            main 0x1000 main.c:3 main.c:4      1             4   2.3%
            parse 0x1128                       2             1   1.1%
            /opt/app/bin/app: 1 functions have no block counts: 1 for: a transaction (x)
            mdl: parse: 2 computed jumps led where no table of the function does: its counts are wrong
            """);
    }

    @Test
    void shouldShowArcsThatWereTakenMost() throws IOException {
        String table = report(
                Collected.ARCS,
                (profile, blocks, notProbed, out) -> new BlocksTable(24, false).write(profile, blocks, notProbed, out));

        assertThat(table).contains("""
            ARC                      COUNT     BY
            main 0x1014 -> 0x1010       49   jump
            parse outside -> 0x1100      7  entry
            parse 0x1124 -> 0x2000       5   jump
            parse 0x1124 -> 0x1128       2   next
            parse 0x1128 -> outside      2  leave
            main outside -> 0x1000       1  entry
            main 0x100c -> 0x1010        1   next
            main 0x1014 -> outside       1  leave
            """);
    }

    @Test
    void shouldWriteTheCountOfEachLine() throws IOException {
        String trace = report((profile, blocks, notProbed, out) -> LcovReport.write(profile, blocks, out));

        assertThat(trace).isEqualTo("""
            TN:
            SF:/src/main.c
            FN:3,main
            FNDA:1,main
            FNF:1
            FNH:1
            DA:3,1
            DA:4,50
            DA:9,50
            LF:3
            LH:3
            end_of_record
            SF:/src/parse.c
            FN:42,parse
            FNDA:7,parse
            FNF:1
            FNH:1
            DA:42,7
            LF:1
            LH:1
            end_of_record
            """);
    }

    @Test
    void shouldTellScriptsOfEachBlock() throws IOException {
        String json = report((profile, blocks, notProbed, out) -> JsonReport.write(
                profile, notProbed, blocks, SlowCall.All.NONE, EventCounts.NONE, ProfileOrder.CALLS, 24, out));

        assertThat(json.replaceAll("\\s+", ""))
                .contains("\"blocksNotCounted\":[{\"image\":\"/opt/app/bin/app\","
                        + "\"functions\":1,\"reasons\":\"1for:atransaction(x)\"}]")
                .contains("{\"function\":\"parse\","
                        + "\"image\":\"/opt/app/bin/app\",\"address\":4352,\"size\":40,\"instructions\":10,\"count\":7,"
                        + "\"lines\":[{\"file\":\"/src/parse.c\",\"line\":42}]}");
    }

    @Test
    void shouldTellScriptsOfEachArc() throws IOException {
        String json = report(
                Collected.ARCS,
                (profile, blocks, notProbed, out) -> JsonReport.write(
                        profile, notProbed, blocks, SlowCall.All.NONE, EventCounts.NONE, ProfileOrder.CALLS, 24, out));

        assertThat(json.replaceAll("\\s+", ""))
                .contains("{\"function\":\"parse\",\"image\":\"/opt/app/bin/app\",\"kind\":\"jump\","
                        + "\"from\":4388,\"target\":8192,\"count\":5}");
    }

    @Test
    void shouldRefuseDamagedArcs() throws IOException {
        for (int[] damage : new int[][] {{0, 4}, {4, -2}, {8, 9}, {12, -2}}) {
            SessionImage image = image(Collected.ARCS);
            long arcs = image.arcs(arc(0, 0, Arc.Kind.JUMP, 1, 0));
            image.putInt(arcs + damage[0], damage[1]);
            image.write(directory);

            try (SessionReader reader = SessionReader.open(directory)) {
                Profile profile = reader.profile();
                assertThatThrownBy(() -> reader.blocks(profile)).isInstanceOf(SessionFormatException.class);
            }
        }
    }

    @Test
    void shouldRefuseDamagedTables() throws IOException {
        SessionImage image = image(Collected.BLOCKS);
        long rows = image.blocks(5);
        image.putInt(rows + BlockDescriptor.FUNCTION, -3);
        image.write(directory);

        try (SessionReader reader = SessionReader.open(directory)) {
            Profile profile = reader.profile();
            assertThatThrownBy(() -> reader.blocks(profile)).isInstanceOf(SessionFormatException.class);
        }
        image.putLong(rows - 64 + BlocksDescriptor.TABLE, 4711);
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            Profile profile = reader.profile();
            assertThatThrownBy(() -> reader.blocks(profile)).isInstanceOf(SessionFormatException.class);
        }
    }
}
