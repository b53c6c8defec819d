package org.mdlagent.arch.x86.bytes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The independent oracle of these tests: GNU `as` and `objdump`.
public final class GnuTools {
    public static final int SLOT = 64;

    private static final Pattern TARGET = Pattern.compile("((?:.* )?(?:jmp|call) 0x)([0-9a-f]+)");

    private GnuTools() {}

    /// The bytes that `as` makes of AT&T or, with `.intel_syntax noprefix` in it, Intel syntax.
    public static byte[] assemble(Path directory, String source) throws IOException, InterruptedException {
        Path assembly = Files.writeString(directory.resolve("t.s"), source + "\n");
        Path object = directory.resolve("t.o");
        Path binary = directory.resolve("t.bin");
        run("as", "--64", "-o", object.toString(), assembly.toString());
        run("objcopy", "-O", "binary", "-j", ".text", object.toString(), binary.toString());
        return Files.readAllBytes(binary);
    }

    /// One line for each instruction of `code`: its length, a space, and how objdump prints it.
    public static List<String> disassemble(Path directory, byte[] code, long address)
            throws IOException, InterruptedException {
        Path binary = Files.write(directory.resolve("d.bin"), code);
        List<String> lines = new ArrayList<>();
        String all = run(
                "objdump",
                "-D",
                "-b",
                "binary",
                "-m",
                "i386:x86-64",
                "-w",
                "--adjust-vma=0x" + Long.toHexString(address),
                binary.toString());
        for (String line : all.lines().toList()) {
            String[] columns = line.split("\t");
            if (columns.length >= 3) {
                lines.add(columns[1].strip().split(" +").length + " "
                        + columns[2].strip().replaceAll(" +", " "));
            }
        }
        return lines;
    }

    /// The first line that [#disassemble] has of each of some codes, by one run of objdump.
    ///
    /// @param codes of at most [#SLOT] bytes each, where `addresses` say
    public static List<String> firsts(Path directory, List<byte[]> codes, List<Long> addresses)
            throws IOException, InterruptedException {
        byte[] slots = new byte[codes.size() * SLOT];
        Arrays.fill(slots, (byte) 0x90);
        for (int i = 0; i < codes.size(); i++) {
            System.arraycopy(codes.get(i), 0, slots, i * SLOT, codes.get(i).length);
        }
        Path binary = Files.write(directory.resolve("d.bin"), slots);
        String[] firsts = new String[codes.size()];
        String all = run("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", "-z", binary.toString());
        for (String line : all.lines().toList()) {
            String[] columns = line.split("\t");
            long at = columns.length >= 3 ? Long.parseLong(columns[0].strip().replace(":", ""), 16) : -1;
            if (at >= 0 && at % SLOT == 0) {
                int slot = (int) (at / SLOT);
                String text = columns[2].strip().replaceAll(" +", " ");
                Matcher target = TARGET.matcher(text);
                if (target.matches()) {
                    long to = Long.parseUnsignedLong(target.group(2), 16) - at + addresses.get(slot);
                    text = target.group(1) + Long.toHexString(to);
                }
                firsts[slot] = columns[1].strip().split(" +").length + " " + text;
            }
        }
        return List.of(firsts);
    }

    public static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output);
        }
        return output;
    }
}
