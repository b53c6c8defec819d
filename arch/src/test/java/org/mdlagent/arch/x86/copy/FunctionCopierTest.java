package org.mdlagent.arch.x86.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.code.CodePiece;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.Harness;
import org.mdlagent.arch.x86.bytes.Instruction;
import org.mdlagent.arch.x86.bytes.NativeInstructionDecoder;

/// The form of copies, of a few functions to the byte, of all functions of libraries by what a decoder
/// reads in them.
class FunctionCopierTest {
    private static final long ADDRESS = 0x7f12_9456_7000L;
    private static final long COPY = ADDRESS + 0x100_0000;
    private static final long COUNTERS = 0x7000_0000L;
    private static final long TABLE = 0x7100_0000L;
    private static final NativeInstructionDecoder DECODER = new NativeInstructionDecoder(Harness.API);

    private static FunctionCopy plan(long address, byte[] code) {
        return new FunctionCopier()
                .plan(Harness.API, List.of(new CodePiece(address, code)), List.of(), at -> false, false, false);
    }

    private static FunctionCopy plan(String code) {
        return plan(ADDRESS, HexFormat.of().parseHex(code.replace(" ", "")));
    }

    private static String copy(String code) {
        return HexFormat.of().formatHex(plan(code).code(COPY, COUNTERS, TABLE));
    }

    private static String hex(String code) {
        return code.replace(" ", "");
    }

    @Test
    void shouldCountWhereNobodyNeedsTheFlags() {
        // xor %eax,%eax; ret
        assertThat(copy("31c0 c3")).startsWith(hex("6548ff042500000070 31c0 c3"));
        // test %edi,%edi; je 1f; lea 1(%rdi),%eax; ret; 1: xor %eax,%eax; ret
        // What leads to both is their sum.
        assertThat(copy("85ff 7404 8d4701 c3 31c0 c3"))
                .startsWith(hex("85ff 0f840d000000" + "6548ff042500000070 8d4701 c3" + "6548ff042508000070 31c0 c3"));
    }

    @Test
    void shouldCountThroughARegisterWhereTheFlagsAreNeeded() {
        // cmp %rsi,%rdi; jl 1f; sete %al; movzbl %al,%eax; ret; 1: xor %eax,%eax; ret. The second block needs
        // the flags of the first up to its second instruction.
        assertThat(plan("4839f7 7c07 0f94c0 0fb6c0 c3 31c0 c3").blocks()).hasSize(3);
        assertThat(copy("4839f7 7c07 0f94c0 0fb6c0 c3 31c0 c3"))
                .startsWith(hex("4839f7 0f8c"))
                .contains(hex("0f94c0 6548ff042500000070 0fb6c0 c3"));
        // 1: jne 1b; mov $1,%eax; ret: the caller's flags, and RAX is free
        assertThat(copy("75fe b801000000 c3")).startsWith(hex("65488b042500000070 488d4001 6548890425 00000070 0f85"));
    }

    @Test
    void shouldSaveARegisterWhereNoneIsFree() {
        // je to another function, then on behind the end: everything may be needed.
        assertThat(copy("0f8400100000"))
                .startsWith(
                        hex("488d642480 50 65488b042500000070 488d4001 6548890425 00000070 58 488da42480000000 0f84"));
    }

    @Test
    void shouldLeadComputedJumpsThroughATable() {
        // jmp *%rax; ret: the return is what the jump may lead to.
        FunctionCopy plan = plan("ffe0 c3");
        byte[] code = plan.code(COPY, COUNTERS, TABLE);

        assertThat(plan.blocks()).hasSize(2);
        assertThat(plan.counters()).isEqualTo(3);
        assertThat(plan.tableSize()).isEqualTo(3 * Long.BYTES);
        assertThat(HexFormat.of().formatHex(code)).contains(hex("4881f8 03000000 7308 40ff24c5 00000071"));
        long[] table = new long[3];
        ByteBuffer.wrap(plan.table())
                .order(ByteOrder.LITTLE_ENDIAN)
                .asLongBuffer()
                .get(table);
        assertThat(table).hasSize(3).contains(ADDRESS + 1); // within an instruction: as it was
        assertThat(table[2]).isBetween(COPY, COPY + code.length);
    }

    @Test
    void shouldRefuseWhatDependsOnItsAddress() {
        assertThatThrownBy(() -> plan("e800000000 58 c3")).hasMessageContaining("calls its own code");
        assertThatThrownBy(() -> plan("c7f800000000 c3")).hasMessageContaining("transaction");
    }

    /// Each block and each instruction is there once, in order; jumps within the function stay within; the
    /// others lead where
    /// they led.
    @ParameterizedTest
    @ValueSource(strings = {"libc.so.6", "libstdc++.so.6", "libm.so.6"})
    void shouldCopyAllFunctionsOfALibrary(String name) throws Exception {
        Map<String, Integer> refused = new TreeMap<>();
        int copied = 0;
        try (ElfFile elf = ElfFile.open(Path.of("/lib/x86_64-linux-gnu", name).toRealPath())) {
            EhFrame frames = Objects.requireNonNull(elf.ehFrame());
            for (int i = 0; i < frames.size(); i += 3) {
                byte[] code = elf.code(frames.start(i), frames.length(i));
                if (code.length == 0) {
                    continue;
                }
                FunctionCopy plan;
                try {
                    plan = plan(ADDRESS + frames.start(i), code);
                } catch (IllegalArgumentException e) {
                    refused.merge(String.valueOf(e.getMessage()).replaceAll("0x.*", ""), 1, Integer::sum);
                    continue;
                }
                check(plan, ADDRESS + frames.start(i), code);
                copied++;
            }
        }
        int all = copied + refused.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(copied).as("copied; refused %s", refused).isGreaterThan(all * 95 / 100);
    }

    private static void check(FunctionCopy plan, long address, byte[] original) {
        byte[] code = plan.code(COPY, COUNTERS, TABLE);
        assertThat(code).hasSize(plan.size());
        long expected = address;
        Map<Long, Long> places = new HashMap<>();
        for (FunctionCopy.Block block : plan.blocks()) {
            assertThat(block.instructions()[0]).isEqualTo(expected);
            expected += block.size();
            for (long at : block.instructions()) {
                places.put(at, COPY + plan.place(at));
            }
        }
        assertThat(expected).isEqualTo(address + original.length);
        byte[] steps = Arrays.copyOf(code, plan.end(0));
        Map<Long, Instruction> copies = new HashMap<>();
        int at = 0;
        for (Instruction instruction : DECODER.decodeAll(steps, COPY)) {
            copies.put(COPY + at, instruction);
            at += instruction.length();
        }
        places.forEach((from, to) -> assertThat(copies).containsKey(to));
        int offset = 0;
        for (Instruction instruction : DECODER.decodeAll(original, address)) {
            if (instruction.kind() == Instruction.Kind.JUMP || instruction.kind() == Instruction.Kind.CALL) {
                long target = instruction.target();
                boolean own = instruction.kind() == Instruction.Kind.JUMP && places.containsKey(target);
                long wanted = own ? COPY + plan.landing(target) : target;
                Instruction copy = firstBranch(copies, places.get(address + offset));
                assertThat(copy.target()).isEqualTo(wanted);
            }
            offset += instruction.length();
        }
    }

    /// Behind the counter, if there is one.
    private static Instruction firstBranch(Map<Long, Instruction> copies, long from) {
        long at = from;
        Instruction found = Objects.requireNonNull(copies.get(at));
        while (found.kind() == Instruction.Kind.PLAIN) {
            at += found.length();
            found = Objects.requireNonNull(copies.get(at));
        }
        return found;
    }
}
