package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.BlockDescriptor;
import org.mdlagent.arch.layout.BlocksDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.Collected;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.session.SessionImage;
import org.mdlagent.profiler.report.session.SessionReader;

/// A session in which basic blocks are counted, as table, JSON and tracefile.
class BlocksReportsTest {
    private static final String APP = "/opt/app/bin/app";

    @TempDir
    private Path directory;

    private interface Report {
        void write(Profile profile, List<FunctionBlocks> blocks, List<NotProbed> notProbed, StringBuilder out)
                throws IOException;
    }

    private static SessionImage image() {
        SessionImage image = new SessionImage();
        image.putInt(HeaderDescriptor.FLAGS, HeaderDescriptor.FLAG_MIXED | Collected.BLOCKS.flags());
        image.putInt(HeaderDescriptor.EXIT_STATUS, 0);
        int main = image.function("main", "main", "/src/main.c", 3, APP);
        int parse = image.function("parse", "parse", "/src/parse.c", 42, APP);
        long first = image.thread(101);
        long second = image.thread(102);
        image.count(first, main, 1);
        image.count(second, parse, 7);
        long rows = image.blocks(5);
        image.block(rows, main, 0x1000, 4, "/src/main.c", 3, 4);
        image.block(rows + BlockDescriptor.SIZE, main, 0x1010, 2, "/src/main.c", 4, 9);
        image.block(rows + 2 * BlockDescriptor.SIZE, parse, 0x1100, 10, "/src/parse.c", 42);
        image.block(rows + 3 * BlockDescriptor.SIZE, parse, 0x1128, 1, "");
        image.block(rows + 4 * BlockDescriptor.SIZE, parse, 0x1128, 0, "");
        image.putInt(rows + 4 * BlockDescriptor.SIZE + BlockDescriptor.KIND, BlockDescriptor.KIND_ENTERED);
        image.blockCounts(first, 1, 50, 3, 0, 0);
        image.blockCounts(second, 0, 0, 4, 2, 5);
        return image;
    }

    private String report(Report report) throws IOException {
        image().write(directory);
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
            mdl: parse: 5 jumps went into the middle of a block: counts behind them are too low
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
        String json = report((profile, blocks, notProbed, out) ->
                JsonReport.write(profile, notProbed, blocks, ProfileOrder.CALLS, 24, out));

        assertThat(json.replaceAll("\\s+", ""))
                .contains("\"blocksNotCounted\":[{\"image\":\"/opt/app/bin/app\","
                        + "\"functions\":1,\"reasons\":\"1for:atransaction(x)\"}]")
                .contains("{\"function\":\"parse\","
                        + "\"image\":\"/opt/app/bin/app\",\"address\":4352,\"size\":40,\"instructions\":10,\"count\":7,"
                        + "\"lines\":[{\"file\":\"/src/parse.c\",\"line\":42}]}");
    }

    @Test
    void shouldRefuseDamagedTables() throws IOException {
        SessionImage image = image();
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
