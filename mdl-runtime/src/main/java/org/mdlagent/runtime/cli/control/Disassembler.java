package org.mdlagent.runtime.cli.control;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

/// Prints machine code, with the decoder that the agent also loads (Zydis 4.0).
final class Disassembler {
    private static final int MODE_LONG_64 = 0;

    /// Offsets in `ZydisDisassembledInstruction` (Zydis/Disassembler.h).
    private static final int LENGTH = 16;

    private static final int TEXT = 1136;
    private static final int SIZE = 1232;

    private final Function disassemble;

    /// @throws CommandFailure when there is no decoder
    Disassembler(Installation installation) {
        try {
            load(installation, "libZycore.so.1.4");
            disassemble = load(installation, "libZydis.so.4.0").getFunction("ZydisDisassembleIntel");
        } catch (UnsatisfiedLinkError e) {
            throw CommandFailure.failed("code cannot be printed: " + e.getMessage(), "apt-get install libzydis-dev");
        }
    }

    /// A loaded library satisfies the other library's dependency on its name.
    private static NativeLibrary load(Installation installation, String name) {
        Path ours = installation.home().resolve("lib").resolve(name);
        return NativeLibrary.getInstance(Files.isReadable(ours) ? ours.toString() : name);
    }

    /// One line per instruction: address, bytes, and text in Intel syntax.
    String list(byte[] code, long address) {
        StringBuilder lines = new StringBuilder();
        for (int at = 0; at < code.length; ) {
            Instruction instruction = first(Arrays.copyOfRange(code, at, code.length), address + at);
            if (instruction == null) {
                throw new IllegalArgumentException("no instruction at " + Long.toHexString(address + at));
            }
            lines.append("%x  %-24s  %s%n"
                    .formatted(
                            address + at,
                            HexFormat.of().formatHex(code, at, at + instruction.length),
                            instruction.text));
            at += instruction.length;
        }
        return lines.toString();
    }

    /// @param length in bytes
    /// @param text   in Intel syntax
    record Instruction(int length, String text) {}

    /// The first instruction of some bytes; null if there is none.
    @Nullable
    Instruction first(byte[] code, long address) {
        Memory instruction = new Memory(SIZE);
        Object[] arguments = {MODE_LONG_64, address, code, (long) code.length, instruction};
        return disassemble.invokeInt(arguments) < 0
                ? null
                : new Instruction(
                        instruction.getByte(LENGTH), instruction.getString(TEXT, StandardCharsets.US_ASCII.name()));
    }
}
