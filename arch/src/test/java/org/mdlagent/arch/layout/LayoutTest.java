package org.mdlagent.arch.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Java's descriptors against `mdl/layout.h`, as the C compiler understands it.
class LayoutTest {
    private static final Map<String, Class<?>> DESCRIPTORS = Map.ofEntries(
            Map.entry("mdl_jump", JumpDescriptor.class),
            Map.entry("mdl_trap", TrapDescriptor.class),
            Map.entry("mdl_trap_index", TrapIndexDescriptor.class),
            Map.entry("mdl_slicing", SlicingDescriptor.class),
            Map.entry("mdl_slice_plan", SlicePlanDescriptor.class),
            Map.entry("mdl_rate_spread", RateSpreadDescriptor.class),
            Map.entry("mdl_instruction", InstructionDescriptor.class),
            Map.entry("mdl_header", HeaderDescriptor.class),
            Map.entry("mdl_function", FunctionDescriptor.class),
            Map.entry("mdl_site", SiteDescriptor.class),
            Map.entry("mdl_bodies", BodiesDescriptor.class),
            Map.entry("mdl_call", CallDescriptor.class),
            Map.entry("mdl_frame", FrameDescriptor.class),
            Map.entry("mdl_countdown", CountdownDescriptor.class),
            Map.entry("mdl_metric", MetricDescriptor.class),
            Map.entry("mdl_point", PointDescriptor.class),
            Map.entry("mdl_process", ProcessDescriptor.class),
            Map.entry("mdl_thread", ThreadDescriptor.class),
            Map.entry("mdl_blocks", BlocksDescriptor.class),
            Map.entry("mdl_block", BlockDescriptor.class),
            Map.entry("mdl_arc", ArcDescriptor.class),
            Map.entry("mdl_record", RecordDescriptor.class),
            Map.entry("mdl_edge", EdgeDescriptor.class),
            Map.entry("mdl_slices", SlicesDescriptor.class),
            Map.entry("mdl_slice", SliceDescriptor.class),
            Map.entry("mdl_slice_chunk", SliceChunkDescriptor.class),
            Map.entry("mdl_pc_frame", PcFrameDescriptor.class),
            Map.entry("mdl_pc_node", PcNodeDescriptor.class),
            Map.entry("mdl_pc_sample", PcSampleDescriptor.class),
            Map.entry("mdl_pc_thread", PcThreadDescriptor.class),
            Map.entry("mdl_pc_samples", PcSamplesDescriptor.class),
            Map.entry("mdl_text", TextDescriptor.class),
            Map.entry("mdl_callers", CallersDescriptor.class),
            Map.entry("mdl_caller", CallerDescriptor.class),
            Map.entry("mdl_row", RowDescriptor.class));

    private static LayoutDump dump;

    @BeforeAll
    static void readDump() throws Exception {
        dump = LayoutDump.read();
    }

    @ParameterizedTest
    @CsvSource({
        "mdl_jump, none",
        "mdl_trap, none",
        "mdl_trap_index, none",
        "mdl_slicing, none",
        "mdl_slice_plan, none",
        "mdl_instruction, none",
        "mdl_header, none",
        "mdl_function, none",
        "mdl_site, size",
        "mdl_bodies, none",
        "mdl_call, none",
        "mdl_frame, none",
        "mdl_countdown, none",
        "mdl_metric, none",
        "mdl_point, none",
        "mdl_pc_frame, none",
        "mdl_pc_node, none",
        "mdl_pc_sample, none",
        "mdl_pc_thread, none",
        "mdl_text, none",
        "mdl_pc_samples, none",
        "mdl_process, none",
        "mdl_thread, none",
        "mdl_blocks, none",
        "mdl_block, size",
        "mdl_arc, none",
        "mdl_record, none",
        "mdl_edge, none",
        "mdl_slices, none",
        "mdl_slice, size",
        "mdl_slice_chunk, bytes",
        "mdl_callers, none",
        "mdl_caller, none",
        "mdl_row, chunks"
    })
    void shouldHaveEveryFieldOfTheStructureAndNoOther(String struct, String renamed) throws Exception {
        Map<String, Long> constants = LayoutDump.constantsOf(DESCRIPTORS.get(struct));
        constants.remove("MAGIC_VALUE");

        assertThat(constants).containsExactlyInAnyOrderEntriesOf(dump.constants(struct, Set.of(renamed)));
    }

    @Test
    void shouldHaveDescriptorForEveryStructureOfTheFile() {
        Set<String> structs = new TreeSet<>(dump.sizes().keySet());
        // NativeApiTest has the first three; the last is a length and bytes.
        Set<String> others = Set.of("mdl_api", "mdl_image", "mdl_pc_place", "mdl_string");
        assertThat(structs).containsAll(others);
        structs.removeAll(others);

        assertThat(structs).isEqualTo(DESCRIPTORS.keySet());
        assertThat(dump.offsets().get("mdl_string"))
                .containsExactlyInAnyOrderEntriesOf(Map.of("length", 0L, "bytes", (long) Integer.BYTES));
    }

    @Test
    void shouldDumpEveryFieldThatTheHeadersDeclare() throws Exception {
        Map<String, Set<String>> dumped = new TreeMap<>();
        dump.offsets().forEach((struct, fields) -> dumped.put(struct, fields.keySet()));

        assertThat(dumped).containsExactlyInAnyOrderEntriesOf(LayoutDump.declared());
        assertThat(dump.sizes().keySet()).isEqualTo(dumped.keySet());
    }

    @Test
    void shouldKnowHowLongArraysAre() {
        assertThat(HeaderDescriptor.PROGRAM_BYTES)
                .isEqualTo(offset("mdl_header", "id") - offset("mdl_header", "program"));
        assertThat(HeaderDescriptor.ID_BYTES).isEqualTo(offset("mdl_header", "directory") - offset("mdl_header", "id"));
        assertThat(RowDescriptor.CHUNKS)
                .isEqualTo((dump.sizes().get("mdl_row") - offset("mdl_row", "chunks")) / Long.BYTES);
    }

    /// In all versions alike, so that each can tell which another is.
    @Test
    void shouldStartFilesWithTheirType() {
        byte[] magic = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(HeaderDescriptor.MAGIC_VALUE)
                .array();

        assertThat(new String(magic, StandardCharsets.US_ASCII)).isEqualTo("MDLSESS1");
        assertThat(offset("mdl_header", "magic")).isZero();
    }

    private static long offset(String struct, String field) {
        return dump.offsets().get(struct).get(field);
    }
}
