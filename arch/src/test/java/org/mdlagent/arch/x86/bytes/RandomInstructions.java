package org.mdlagent.arch.x86.bytes;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Random instructions that a process survives, or takes a signal from: random bytes, of which objdump says what they
/// are. Relative branches are not among them: whoever places one chooses its target.
public final class RandomInstructions {
    /// @param text as objdump prints it
    public record Sample(byte[] bytes, String text) {
        private static final Pattern PREFIXES =
                Pattern.compile("^(?:(?:bnd|notrack|data16|addr32|lock|repz?|repnz|rex[.WRXB]*|[cdefgs]s) )*");

        public String mnemonic() {
            return PREFIXES.matcher(text).replaceFirst("").replaceFirst(" .*", "");
        }
    }

    private static final int SLOT = 2 * InstructionDecoder.LENGTH_MAX;

    private static final Pattern LINE = Pattern.compile("^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$");

    /// Prefixes alone, and
    /// - what enters the kernel or the hypervisor, or loads a segment register;
    /// - what tells the time, the processor, or random numbers, and so differs without being moved;
    /// - what changes the thread pointer, the memory's protection, or when the processor traps;
    /// - what stores the address of the last x87 instruction;
    /// - gathers, which may be interrupted by a page fault at any element;
    /// - relative branches.
    private static final Pattern EXCLUDED = Pattern.compile("""
            .*[({]ba.*|.*\\.byte.*|(?:[cdefgs]s|rex[.WRXB]*|lock|repn?z?|data16|addr32|bnd|notrack| )*\
            |.*\\b(?:syscall|sysenter|sysret[lq]?|sysexit[lq]?|int|int1|icebp|into|iret[wlq]?\
            |lret[wlq]?|lcall[wlq]?|ljmp[wlq]?|vmcall|vmmcall|vmgexit|vmfunc|vmrun|vmload|vmsave|vmlaunch|vmresume|encl[suv]\
            |rdtscp?|rdpmc|rdpru|rdpid|rdrand|rdseed|cpuid|xgetbv|ls[ls]|lar|s[gil]dt|str|smsw[wlq]?|lfs|lgs|popf[wlq]?\
            |wr[fg]sbase[lq]?|wrpkru|monitorx?|mwaitx?|umonitor|umwait|tpause|clui|stui|testui|uiret|senduipi\
            |ldmxcsr|vldmxcsr|fldcw|fldenvs?|frstors?|fn?stenvs?|fn?saves?|fxsave(?:64)?|fxrstor(?:64)?|xsave\\w*|xrstor\\w*\
            |vp?gather\\w*|vp?scatter\\w*|loop\\w*|xbegin|j(?!mp)\\w+)\\b.*\
            |.*\\b(?:call|jmp)[wlq]?(?:,p[nt])? +[0-9a-fx]+.*\
            |.*\\b(?:mov|pop)[wlq]? (?:.*,)?%[defgs]s(?: .*)?\
            |.*%fs:.*|\\bfs .*\
            """);

    /// objdump takes `fwait` and the x87 instruction behind it for one.
    private static final Pattern WAITING = Pattern.compile("(?:(?:[26]6|[23]e|36|6[4567]|4.|f[023]) )*9b .+");

    private RandomInstructions() {}

    public static List<Sample> generate(SplittableRandom random, int candidates, Path directory) throws Exception {
        byte[] all = new byte[candidates * SLOT];
        Arrays.fill(all, (byte) 0x90); // brings objdump back to the start of each slot
        for (int i = 0; i < candidates; i++) {
            System.arraycopy(candidate(random), 0, all, i * SLOT, InstructionDecoder.LENGTH_MAX);
        }
        Path file = Files.write(directory.resolve("candidates.bin"), all);
        Process objdump = new ProcessBuilder(
                        "objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", "-z", file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<Sample> samples = new ArrayList<>();
        int slots = 0;
        try (var lines = objdump.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher matcher = LINE.matcher(line);
                if (matcher.matches() && Integer.parseInt(matcher.group(1), 16) % SLOT == 0) {
                    slots++;
                    int start = Integer.parseInt(matcher.group(1), 16);
                    String text = matcher.group(3).strip().replaceAll(" +", " ");
                    if (!EXCLUDED.matcher(text).matches()
                            && !WAITING.matcher(matcher.group(2)).matches()) {
                        int length = matcher.group(2).length() / 3;
                        samples.add(new Sample(Arrays.copyOfRange(all, start, start + length), text));
                    }
                }
            }
        }
        if (objdump.waitFor() != 0 || slots != candidates) {
            throw new AssertionError("objdump ended with " + objdump.exitValue() + ", " + slots + " slots");
        }
        return samples;
    }

    /// The bytes of an instruction, with luck, in every encoding; where it has memory operands, these are often near.
    private static byte[] candidate(SplittableRandom random) {
        byte[] bytes = new byte[InstructionDecoder.LENGTH_MAX];
        random.nextBytes(bytes);
        ByteBuffer out = ByteBuffer.wrap(bytes);
        for (int prefix : new int[] {0x66, 0xF2, 0xF3, 0xF0, 0x65, 0x67}) {
            if (random.nextInt(prefix == 0x66 ? 6 : 16) == 0) {
                out.put((byte) prefix);
            }
        }
        int form = random.nextInt(100);
        if (form < 16) {
            vex(random, out);
        } else if (form < 28) {
            out.put((byte) 0x62);
            out.put((byte) (random.nextInt(16) << 4 | 1 + random.nextInt(3)));
            out.put((byte) (random.nextInt(256) | 4));
            out.put((byte) random.nextInt(256));
            out.put((byte) random.nextInt(256));
        } else {
            if (random.nextBoolean()) {
                out.put((byte) (0x40 | random.nextInt(16)));
            }
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3 -> out.put((byte) 0x0F);
                case 4 -> out.put((byte) 0x0F).put((byte) 0x38);
                case 5 -> out.put((byte) 0x0F).put((byte) 0x3A);
                default -> {}
            }
            out.put((byte) random.nextInt(256));
        }
        operand(random, out);
        return bytes;
    }

    private static void vex(SplittableRandom random, ByteBuffer out) {
        if (random.nextBoolean()) {
            out.put((byte) 0xC5);
        } else {
            out.put((byte) 0xC4).put((byte) (random.nextInt(8) << 5 | 1 + random.nextInt(3)));
        }
        out.put((byte) random.nextInt(256)).put((byte) random.nextInt(256));
    }

    private static void operand(SplittableRandom random, ByteBuffer out) {
        int register = random.nextInt(8) << 3;
        switch (random.nextInt(3)) {
            case 0 -> out.put((byte) (register | 5)); // relative to the instruction
            case 1 -> out.put((byte) (register | 0xC0 | random.nextInt(8)));
            default -> {
                int mode = random.nextInt(3);
                int base = random.nextInt(8);
                out.put((byte) (mode << 6 | register | base));
                if (base == 4) {
                    out.put((byte) random.nextInt(256));
                }
                if (mode == 1) {
                    out.put((byte) (random.nextInt(-8, 8) * 8));
                } else if (mode == 2) {
                    out.putInt(Integer.reverseBytes(random.nextInt(-64, 64) * 8));
                }
            }
        }
    }
}
