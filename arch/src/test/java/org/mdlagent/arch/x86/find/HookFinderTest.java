package org.mdlagent.arch.x86.find;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeRanges;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Relocation;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.CodeSearch.HookScan;
import org.mdlagent.arch.site.CodeSearch.HookTargets;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.x86.bytes.GnuTools;

/// The hook sites of compiled programs, against what objdump shows of them.
class HookFinderTest {
    private static final String ENTER = "__cyg_profile_func_enter";
    private static final String EXIT = "__cyg_profile_func_exit";
    private static final Pattern INSTRUCTION = Pattern.compile("^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$");

    private static final String SOURCE = """
            #include <stdlib.h>
            #include <string.h>
            #include <setjmp.h>
            static jmp_buf target;
            static int twice(int x) { return 2 * x; }
            __attribute__((noinline)) void nothing(void) { __asm__ volatile(""); }
            __attribute__((noinline)) int sum(const char *s) { int n = 0; while (*s) n += twice(*s++); return n; }
            int pick(int x) { switch (x) { case 1: return sum("a"); case 2: return sum("bb"); case 3: nothing(); return 7; case 4: longjmp(target, 1); default: return twice(x); } }
            void *stretch(int n) { char *p = __builtin_alloca(n); memset(p, n, n); return malloc(p[0] + twice(n)); }
            void last(int x) { if (x > 3) nothing(); else if (setjmp(target)) free(stretch(x)); }
            int main(int argc, char **argv) { last(argc); return pick(argc) + sum(argv[0]); }
            """;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-O0",
                "-O1",
                "-O2",
                "-O3",
                "-Os",
                "-O2 -no-pie -fno-pie",
                "-O2 -fno-plt",
                "-O2 -fno-plt -Wl,-z,norelro",
                "-O2 -fPIC -shared",
                "-O2 -fcf-protection=full",
                "-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -funwind-tables",
                "-O2 -static-libgcc -Wl,-z,now"
            })
    void shouldFindSitesThatObjdumpShows(String flags) throws Exception {
        Path program = compile(flags);
        try (ElfFile elf = ElfFile.open(program);
                Arena arena = Arena.ofConfined()) {
            TreeMap<Long, String> instructions = disassemble(program);
            TreeMap<Long, Integer> lengths = lengths(program);
            MemorySegment image = load(elf, arena, program);
            long bias = image.address();
            HookScan scan = scan(elf, bias, lengths);

            Set<String> expected = new TreeSet<>();
            instructions.forEach((address, text) -> {
                if (text.contains(ENTER) || text.contains(EXIT)) {
                    String verb = text.substring(0, 1);
                    boolean stub = lengths.get(address) >= 6 && verb.equals("j") && inLinkage(elf, address);
                    if (!stub && !text.startsWith("push")) {
                        expected.add(Long.toHexString(address) + (text.contains(EXIT) ? " exit" : " entry"));
                    }
                }
            });
            Set<String> found = new TreeSet<>();
            for (SiteInstruction site : scan.sites()) {
                found.add(Long.toHexString(site.address() - bias)
                        + (site.role() == SiteInstruction.Role.EXIT ? " exit" : " entry"));
            }
            assertThat(expected).hasSizeGreaterThan(10);
            assertThat(found).isEqualTo(expected);
            assertThat(scan.unproved()).isZero();
            assertThat(scan.unpatchable()).isZero();
            assertEntriesKnowTheirFunction(scan, elf, bias, flags);
        }
    }

    private static void assertEntriesKnowTheirFunction(HookScan scan, ElfFile elf, long bias, String flags)
            throws Exception {
        if (flags.contains("-shared")) {
            return; // GOT slots hold addresses only once the dynamic linker filled them
        }
        Set<String> names = new TreeSet<>();
        for (SiteInstruction site : scan.sites()) {
            if (site.role() == SiteInstruction.Role.ENTRY) {
                // Code that is not position-independent names the address that it was linked for.
                int function = elf.symbols().at(site.function() - (flags.contains("-no-pie") ? 0 : bias));
                assertThat(function).as("function of %x", site.address() - bias).isNotNegative();
                names.add(elf.symbols().name(function));
            }
        }
        assertThat(names).contains("main", "sum", "nothing", "pick", "stretch", "last", "twice");
    }

    private static boolean inLinkage(ElfFile elf, long address) {
        try {
            for (Section section : elf.sections()) {
                if (section.name().startsWith(".plt")
                        && address >= section.address()
                        && address < section.address() + section.size()) {
                    return true;
                }
            }
            return false;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static HookScan scan(ElfFile elf, long bias, TreeMap<Long, Integer> lengths) throws Exception {
        InstructionSet x86 = InstructionSet.ofAtomicUnit(8);
        List<Long> entrySlots = new ArrayList<>();
        List<Long> exitSlots = new ArrayList<>();
        for (Relocation relocation : elf.dynamic().slotsOf(Set.of(ENTER, EXIT))) {
            (relocation.symbol().equals(ENTER) ? entrySlots : exitSlots).add(bias + relocation.address());
        }
        List<Long> entries = new ArrayList<>();
        List<Long> exits = new ArrayList<>();
        for (Section section : elf.sections()) {
            if (section.name().startsWith(".plt")) {
                byte[] code = Memory.copy(bias + section.address(), (int) section.size());
                entrySlots.forEach(
                        slot -> entries.addAll(x86.search().linkageStubs(code, bias + section.address(), slot)));
                exitSlots.forEach(
                        slot -> exits.addAll(x86.search().linkageStubs(code, bias + section.address(), slot)));
            }
        }
        HookTargets targets = new HookTargets(longs(entries), longs(exits), longs(entrySlots), longs(exitSlots));
        Segment text = elf.executableSegments().getFirst();
        return x86.search()
                .findHooks(
                        Memory.copy(bias + text.address(), (int) text.fileSize()),
                        bias + text.address(),
                        ranges(elf.ehFrame(), bias),
                        targets,
                        (code, length, out) -> {
                            for (long i = 0; i < length; i++) {
                                Memory.putByte(out + i, (byte) (int) lengths.getOrDefault(code + i - bias, 0));
                            }
                            return length;
                        });
    }

    private static long[] longs(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    private static CodeRanges ranges(EhFrame frames, long bias) {
        return new CodeRanges() {
            @Override
            public int size() {
                return frames.size();
            }

            @Override
            public long start(int index) {
                return bias + frames.start(index);
            }

            @Override
            public long length(int index) {
                try {
                    return frames.length(index);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        };
    }

    private Path compile(String flags) throws Exception {
        Path source = Files.writeString(directory.resolve("p.c"), SOURCE);
        Path program = directory.resolve("p");
        List<String> command = new ArrayList<>(List.of("gcc", "-g", "-finstrument-functions", "-w"));
        command.addAll(List.of(flags.split(" ")));
        command.addAll(List.of("-o", program.toString(), source.toString()));
        GnuTools.run(command.toArray(String[]::new));
        return program;
    }

    /// The image as the kernel would map it, without relocation.
    private static MemorySegment load(ElfFile elf, Arena arena, Path program) throws Exception {
        byte[] file = Files.readAllBytes(program);
        long end = 0;
        for (Segment segment : elf.segments()) {
            end = Math.max(end, segment.address() + segment.memorySize());
        }
        MemorySegment image = arena.allocate(end + 4096, 4096);
        for (Segment segment : elf.segments()) {
            if (segment.type() == 1) {
                MemorySegment.copy(
                        MemorySegment.ofArray(file), segment.offset(), image, segment.address(), segment.fileSize());
            }
        }
        return image;
    }

    private static TreeMap<Long, String> disassemble(Path program) throws Exception {
        TreeMap<Long, String> instructions = new TreeMap<>();
        for (String line :
                GnuTools.run("objdump", "-d", "-w", program.toString()).lines().toList()) {
            Matcher matcher = INSTRUCTION.matcher(line);
            if (matcher.matches()) {
                instructions.put(Long.parseLong(matcher.group(1), 16), matcher.group(3));
            }
        }
        return instructions;
    }

    private static TreeMap<Long, Integer> lengths(Path program) throws Exception {
        TreeMap<Long, Integer> lengths = new TreeMap<>();
        for (String line :
                GnuTools.run("objdump", "-d", "-w", program.toString()).lines().toList()) {
            Matcher matcher = INSTRUCTION.matcher(line);
            if (matcher.matches()) {
                lengths.put(
                        Long.parseLong(matcher.group(1), 16),
                        matcher.group(2).strip().split(" ").length);
            }
        }
        return lengths;
    }
}
