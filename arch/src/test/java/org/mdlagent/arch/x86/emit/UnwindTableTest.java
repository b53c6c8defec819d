package org.mdlagent.arch.x86.emit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.code.TrampolineRange.Kind;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// Frame descriptions as readelf prints them.
class UnwindTableTest {
    private static final long CODE = 0x10000;
    private static final long STUBS = 0x10400;
    private static final long LEAVES = 0x10480;
    private static final long AT = 0x11000;
    private static final int HEADER = 12;

    @TempDir
    Path directory;

    private final List<TrampolineRange> ranges = List.of(
            new TrampolineRange(CODE, 0x400, Kind.RECORDING),
            new TrampolineRange(STUBS, 128, Kind.FUNCTION_STUBS),
            new TrampolineRange(LEAVES, 48, Kind.LEAF));
    private final List<UnwindRow> recording =
            List.of(new UnwindRow(0x100, UnwindRow.Rule.IN_CALL), new UnwindRow(0x11c, UnwindRow.Rule.CALLED));

    @Test
    void shouldFindEveryRangeByItsAddress() {
        ByteBuffer table = ByteBuffer.wrap(build(AT)).order(ByteOrder.LITTLE_ENDIAN);

        assertThat(table.getInt(0)).isEqualTo(0x3B031B01);
        assertThat(AT + 4 + table.getInt(4)).isEqualTo(AT + HEADER + 3 * 8);
        assertThat(table.getInt(8)).isEqualTo(3);
        List<Long> starts = new ArrayList<>();
        List<Integer> commonEntries = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            starts.add(AT + table.getInt(HEADER + 8 * i));
            int frame = table.getInt(HEADER + 8 * i + 4);
            assertThat(AT + frame + 8 + table.getInt(frame + 8))
                    .as("its frame begins there")
                    .isEqualTo(starts.getLast());
            commonEntries.add(frame + 4 - table.getInt(frame + 4));
        }
        assertThat(starts).containsExactly(CODE, STUBS, LEAVES);
        assertThat(commonEntries).containsOnly(commonEntries.getFirst());
        assertThat(table.getInt(commonEntries.getFirst() + 4))
                .as("the mark of a common entry")
                .isZero();
    }

    @Test
    void shouldDescribeStubsAsReadelfUnderstands() throws Exception {
        List<String> dump = readelf();

        int stubs = indexOf(dump, "pc=0000000000010400..0000000000010480");
        assertThat(dump.get(stubs + 1))
                .isEqualTo("DW_CFA_def_cfa_expression (DW_OP_const8u: 18438018349431517184; DW_OP_breg16 (rip): 0;"
                        + " DW_OP_const1u: 63; DW_OP_and; DW_OP_shr; DW_OP_lit1; DW_OP_and; DW_OP_lit24; DW_OP_mul;"
                        + " DW_OP_breg7 (rsp): 8; DW_OP_plus)");
    }

    /// The bits of the rule above.
    @Test
    void shouldKnowWhereStubsHaveWordsOnTheStack() {
        long bits = ByteBuffer.wrap(build(AT)).order(ByteOrder.LITTLE_ENDIAN).getLong(stubsRule() + 3);

        for (int at = 0; at < 64; at++) {
            boolean words = at >= 12 && at < 48 || at >= 53;
            assertThat(bits >>> at & 1).as("at %d", at).isEqualTo(words ? 1 : 0);
        }
    }

    /// Offset of its instructions.
    private int stubsRule() {
        return ByteBuffer.wrap(build(AT)).order(ByteOrder.LITTLE_ENDIAN).getInt(HEADER + 8 + 4) + 17;
    }

    @Test
    void shouldDescribeRecordingCodeAndLeaves() throws Exception {
        List<String> dump = readelf();

        int code = indexOf(dump, "pc=0000000000010000..0000000000010400");
        assertThat(dump.subList(code + 1, code + 5))
                .containsExactly(
                        "DW_CFA_advance_loc2: 256 to 0000000000010100",
                        "DW_CFA_def_cfa_offset: 32",
                        "DW_CFA_advance_loc: 28 to 000000000001011c",
                        "DW_CFA_def_cfa_offset: 8");
        int leaves = indexOf(dump, "pc=0000000000010480..00000000000104b0");
        assertThat(dump.subList(leaves + 1, dump.size()))
                .allMatch(line -> line.isEmpty() || line.contains("nop") || line.contains("ZERO terminator"));
    }

    private byte[] build(long at) {
        return UnwindTable.build(at, ranges, recording);
    }

    private List<String> readelf() throws Exception {
        byte[] table = build(AT);
        int frames = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN).getInt(4) + 4;
        Path bytes = Files.write(directory.resolve("frames"), Arrays.copyOfRange(table, frames, table.length));
        Path source = Files.writeString(
                directory.resolve("frames.s"), ".section .eh_frame,\"a\",@progbits\n.incbin \"" + bytes + "\"\n");
        Path object = directory.resolve("frames.o");
        GnuTools.run("as", "--64", "-o", object.toString(), source.toString());
        GnuTools.run(
                "objcopy",
                "--set-section-flags",
                ".eh_frame=alloc,readonly",
                "--change-section-address",
                ".eh_frame=0x" + Long.toHexString(AT + frames),
                object.toString());
        return GnuTools.run("readelf", "--debug-dump=frames", object.toString())
                .lines()
                .map(line -> line.strip().replaceAll(" +", " "))
                .toList();
    }

    private static int indexOf(List<String> lines, String part) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(part)) {
                return i;
            }
        }
        throw new AssertionError("no " + part + " in\n" + String.join("\n", lines));
    }
}
