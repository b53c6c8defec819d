package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl points`: shows what stands in the code of a running program where a function has probes, when they are off and
/// when they are on.
@Command(
        name = "points",
        description = "Show the code of a running program where a function has probes, off and on.",
        customSynopsis = "mdl points [PID|SESSION] FUNCTION")
public final class PointsCommand implements Callable<Integer> {
    private static final int COLUMNS = 15;

    /// Bytes of one line, at most.
    private static final int LINE_BYTES = 8;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            arity = "1..2",
            paramLabel = "[PID|SESSION] FUNCTION",
            description =
                    "Without the first: the newest. A name; * and ? match; IMAGE!FUNCTION or FILE:FUNCTION narrows.")
    private List<String> words = List.of();

    private @Nullable Disassembler disassembler;

    @Override
    public Integer call() throws IOException {
        Path directory = mdl.store().find(words.size() == 2 ? words.getFirst() : null);
        List<String> lines = new ArrayList<>();
        List<String> part;
        do {
            part = ControlClient.ask(directory, "probes points " + lines.size() + " " + words.getLast())
                    .lines()
                    .toList();
            lines.addAll(part);
        } while (!part.isEmpty());
        try {
            disassembler = new Disassembler(mdl.installation());
        } catch (CommandFailure e) {
            mdl.console().say(e.getMessage() + ": bytes are shown as they are", e.remedy());
        }
        PrintStream out = mdl.console().out();
        for (int i = 0; i < lines.size(); i++) {
            if (i > 0) {
                out.println();
            }
            show(lines.get(i).split("\t", -1), out);
        }
        return 0;
    }

    private void show(String[] columns, PrintStream out) {
        if (columns.length != COLUMNS) {
            throw CommandFailure.failed("the agent answers in another way", "use the mdl that started it");
        }
        long address = Long.parseUnsignedLong(columns[5], 16);
        byte[] off = bytes(columns[6]);
        byte[] on = bytes(columns[7]);
        int storeAt = Integer.parseInt(columns[8], 16);
        int storeSize = Integer.parseInt(columns[9], 16);
        long hop = Long.parseUnsignedLong(columns[10], 16);
        long stub = Long.parseUnsignedLong(columns[12], 16);
        long copy = Long.parseUnsignedLong(columns[13], 16);
        byte[] copied = bytes(columns[14]);
        out.println(ListCommand.printable("%s  %s at %x of %s: %s, now %s"
                .formatted(
                        columns[0],
                        words(columns[2]),
                        address,
                        columns[1],
                        tactic(columns[3], off, address),
                        columns[4])));
        out.printf("  off%n");
        all(off, address, out);
        out.printf("  on: one store of %d bytes at %x%n", storeSize, address + storeAt);
        jump(on, address, out);
        if (hop != 0) {
            out.printf("  hop%n");
            all(bytes(columns[11]), hop, out);
        }
        out.printf("  stub at %x%n", stub);
        if (copied.length > 0) {
            out.printf("  copy, where the function goes on%n");
            all(copied, copy, out);
        }
    }

    private static byte[] bytes(String hexadecimal) {
        return HexFormat.of().parseHex(hexadecimal);
    }

    private static String words(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// How a jump finds room.
    private String tactic(String form, byte[] off, long address) {
        if (!form.equals("INSTRUCTIONS")) {
            return "left by the compiler (" + words(form) + ")";
        }
        int instructions = 0;
        for (int at = 0, length; at < off.length; at += length) {
            length = length(off, at, address);
            if (length == 0) {
                return "a jump over instructions";
            }
            instructions++;
        }
        return instructions == 1 ? "a jump over 1 instruction" : "a jump over " + instructions + " instructions";
    }

    private int length(byte[] code, int at, long address) {
        Disassembler.Instruction instruction = instruction(code, at, address);
        return instruction == null ? 0 : instruction.length();
    }

    private Disassembler.@Nullable Instruction instruction(byte[] code, int at, long address) {
        return disassembler == null
                ? null
                : disassembler.first(Arrays.copyOfRange(code, at, code.length), address + at);
    }

    /// All instructions; what is none, as bytes.
    private void all(byte[] code, long address, PrintStream out) {
        int at = 0;
        while (at < code.length) {
            at += one(code, at, address, out);
        }
    }

    /// What is executed, and then what nobody comes to but through a trap.
    private void jump(byte[] code, long address, PrintStream out) {
        int at = one(code, 0, address, out);
        while (at < code.length) {
            at += rest(code, at, address, "not executed", out);
        }
    }

    private int one(byte[] code, int at, long address, PrintStream out) {
        Disassembler.Instruction instruction = instruction(code, at, address);
        if (instruction == null) {
            return rest(code, at, address, "", out);
        }
        line(code, at, instruction.length(), address, instruction.text(), out);
        return instruction.length();
    }

    private static int rest(byte[] code, int at, long address, String text, PrintStream out) {
        int length = Math.min(LINE_BYTES, code.length - at);
        line(code, at, length, address, text, out);
        return length;
    }

    private static void line(byte[] code, int at, int length, long address, String text, PrintStream out) {
        String line =
                "    %x  %-20s  %s".formatted(address + at, HexFormat.of().formatHex(code, at, at + length), text);
        out.println(line.stripTrailing());
    }
}
