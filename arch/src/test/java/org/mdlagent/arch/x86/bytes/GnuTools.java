package org.mdlagent.arch.x86.bytes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The independent oracle of these tests: GNU `as` and `objdump`.
public final class GnuTools {
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

    public static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output);
        }
        return output;
    }
}
