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
    private static final long PERSONALITY = 0x7F1122334455L;
    private static final int HEADER = 12;

    @TempDir
    Path directory;

    private final List<TrampolineRange> ranges = List.of(
            new TrampolineRange(CODE, 0x400, Kind.RECORDING),
            new TrampolineRange(STUBS, 128, Kind.FUNCTION_STUBS),
            new TrampolineRange(LEAVES, 48, Kind.LEAF));
    private final List<UnwindRow> recording = List.of(
            new UnwindRow(0x100, UnwindRow.Rule.FRAMED),
            new UnwindRow(0x110, UnwindRow.Rule.RETURNING),
            new UnwindRow(0x114, UnwindRow.Rule.RBX_IN_RCX),
            new UnwindRow(0x11c, UnwindRow.Rule.CALLED));

    @Test
    void shouldFindEveryRangeByItsAddress() {
        ByteBuffer table = ByteBuffer.wrap(build(AT)).order(ByteOrder.LITTLE_ENDIAN);

        assertThat(table.getInt(0)).isEqualTo(0x3B031B01);
        assertThat(AT + 4 + table.getInt(4)).isEqualTo(AT + HEADER + 4 * 8);
        assertThat(table.getInt(8)).isEqualTo(4);
        List<Long> starts = new ArrayList<>();
        List<Integer> commonEntries = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            starts.add(AT + table.getInt(HEADER + 8 * i));
            int frame = table.getInt(HEADER + 8 * i + 4);
            assertThat(AT + frame + 8 + table.getInt(frame + 8))
                    .as("its frame begins there")
                    .isEqualTo(starts.getLast());
            commonEntries.add(frame + 4 - table.getInt(frame + 4));
        }
        assertThat(starts).containsExactly(CODE, STUBS, STUBS + 64, LEAVES);
        int stubs = commonEntries.get(1);
        int others = commonEntries.get(0);
        assertThat(commonEntries).containsExactly(others, stubs, stubs, others);
        assertThat(table.getInt(stubs + 4)).as("the mark of a common entry").isZero();
    }

    /// A large program's table has megabytes.
    @Test
    void shouldDescribeManyStubsAndHaveNothingBehindThem() {
        int stubs = 10_000;
        long leaves = STUBS + 64L * stubs;
        long at = leaves + 64;
        byte[] table = UnwindTable.build(
                at,
                List.of(
                        new TrampolineRange(STUBS, 64L * stubs, Kind.FUNCTION_STUBS),
                        new TrampolineRange(leaves, 48, Kind.LEAF)),
                recording,
                PERSONALITY);

        ByteBuffer bytes = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(bytes.getInt(8)).isEqualTo(stubs + 1);
        int first = bytes.getInt(HEADER + 4);
        byte[] rules = Arrays.copyOfRange(table, first + 12, bytes.getInt(HEADER + 8 + 4));
        int end = 0;
        for (int i = 0; i <= stubs; i++) {
            int frame = bytes.getInt(HEADER + 8 * i + 4);
            assertThat(frame).isEqualTo(i == 0 ? first : end);
            assertThat(at + bytes.getInt(HEADER + 8 * i)).isEqualTo(STUBS + 64L * i);
            assertThat(at + frame + 8 + bytes.getInt(frame + 8)).isEqualTo(STUBS + 64L * i);
            end = frame + 4 + bytes.getInt(frame);
            if (i < stubs) {
                assertThat(frame + 4 - bytes.getInt(frame + 4)).isEqualTo(first + 4 - bytes.getInt(first + 4));
                assertThat(Arrays.copyOfRange(table, frame + 12, end)).isEqualTo(rules);
            }
        }
        assertThat(bytes.getInt(end)).as("the end").isZero();
        assertThat(table).hasSize(end + 4);
    }

    @Test
    void shouldDescribeStubsAsReadelfUnderstands() throws Exception {
        List<String> dump = readelf();

        assertThat(dump).anyMatch(line -> line.contains("Augmentation:") && line.contains("\"zPR\""));
        int stub = indexOf(dump, "pc=0000000000010400..0000000000010440");
        assertThat(dump.subList(stub + 1, stub + 15))
                .containsExactly(
                        "DW_CFA_advance_loc: 26 to 000000000001041a",
                        "DW_CFA_def_cfa: r7 (rsp) ofs 0",
                        "DW_CFA_expression: r16 (rip) (DW_OP_breg11 (r11): 32)",
                        "DW_CFA_advance_loc: 7 to 0000000000010421",
                        "DW_CFA_def_cfa_expression (DW_OP_breg3 (rbx): 0; DW_OP_deref; DW_OP_breg3 (rbx): 56;"
                                + " DW_OP_deref_size: 1; DW_OP_minus; DW_OP_lit7; DW_OP_plus)",
                        "DW_CFA_val_expression: r7 (rsp) (DW_OP_breg3 (rbx): 0; DW_OP_deref)",
                        "DW_CFA_expression: r16 (rip) (DW_OP_breg3 (rbx): 32)",
                        "DW_CFA_expression: r3 (rbx) (DW_OP_breg3 (rbx): 40)",
                        "DW_CFA_advance_loc: 15 to 0000000000010430",
                        "DW_CFA_def_cfa: r7 (rsp) ofs 8",
                        "DW_CFA_offset: r16 (rip) at cfa-8",
                        "DW_CFA_restore: r7 (rsp)",
                        "DW_CFA_same_value: r3 (rbx)",
                        "");
    }

    @Test
    void shouldDescribeRecordingCodeAndLeaves() throws Exception {
        List<String> dump = readelf();

        int code = indexOf(dump, "pc=0000000000010000..0000000000010400");
        assertThat(dump.subList(code, code + 30))
                .contains("DW_CFA_advance_loc2: 256 to 0000000000010100", "DW_CFA_register: r3 (rbx) in r2 (rcx)");
        int leaves = indexOf(dump, "pc=0000000000010480..00000000000104b0");
        assertThat(dump.subList(leaves + 1, dump.size()))
                .allMatch(line -> line.isEmpty() || line.contains("nop") || line.contains("ZERO terminator"));
    }

    private byte[] build(long at) {
        return UnwindTable.build(at, ranges, recording, PERSONALITY);
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
