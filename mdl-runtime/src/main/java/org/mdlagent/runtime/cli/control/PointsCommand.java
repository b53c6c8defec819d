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
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl points`: shows the code at the probes of a running program's function, when they are off and when
/// they are on.
@Command(
        name = "points",
        description = "Show the code at the probes of a running program's functions, off and on.",
        customSynopsis = "mdl points [PID|SESSION] FUNCTION")
public final class PointsCommand implements Callable<Integer> {
    private static final int COLUMNS = 17;
    private static final int JUMP = 0xE9;

    /// Maximum bytes printed per line.
    private static final int LINE_BYTES = 8;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            arity = "1..2",
            paramLabel = "[PID|SESSION] FUNCTION",
            description = "The session defaults to the newest. A name, or a pattern with * and ?; IMAGE!FUNCTION"
                    + " or FILE:FUNCTION narrows.")
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
            throw CommandFailure.failed("the agent's answer is of another version", "use the mdl that started it");
        }
        Listed changed = listed(columns[5], columns[6]);
        byte[] on = bytes(columns[7]);
        int storeAt = Integer.parseInt(columns[8], 16);
        int storeSize = Integer.parseInt(columns[9], 16);
        Listed gated = listed(columns[10], columns[11]);
        Listed hop = listed(columns[12], columns[13]);
        long stub = Long.parseUnsignedLong(columns[14], 16);
        Listed copy = listed(columns[15], columns[16]);
        boolean hasGate = gated.bytes.length > 0;
        out.println(ForeignText.printable("%s  %s at %x of %s: %s, now %s"
                .formatted(
                        columns[0],
                        words(columns[2]),
                        hasGate ? gated.address : changed.address,
                        columns[1],
                        hasGate ? "a jump in steps, to a gate" : tactic(columns[3], changed),
                        columns[4])));
        if (hasGate) {
            if ((gated.bytes[0] & 0xFF) == JUMP) {
                out.printf("  its bytes now%n");
                jump(gated, out);
            } else {
                show("its bytes now", gated, out);
            }
        }
        String gate = hasGate ? "gate, " : "";
        if (hasGate && hop.bytes.length > 0) {
            show("hop", hop, out);
        }
        show(gate + "off", changed, out);
        out.printf("  %son: one store of %d bytes at %x%n", gate, storeSize, changed.address + storeAt);
        jump(new Listed(changed.address, on), out);
        if (!hasGate && hop.bytes.length > 0) {
            show("hop", hop, out);
        }
        out.printf("  stub at %x%n", stub);
        if (copy.bytes.length > 0) {
            show("copy, where the function goes on", copy, out);
        }
    }

    /// Bytes of the program.
    private record Listed(long address, byte[] bytes) {}

    private static Listed listed(String address, String bytes) {
        return new Listed(Long.parseUnsignedLong(address, 16), bytes(bytes));
    }

    private static byte[] bytes(String hexadecimal) {
        return HexFormat.of().parseHex(hexadecimal);
    }

    private static String words(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// How a jump finds its room.
    private String tactic(String form, Listed off) {
        if (!form.equals("INSTRUCTIONS")) {
            return "left by the compiler (" + words(form) + ")";
        }
        int instructions = 0;
        for (int at = 0, length; at < off.bytes.length; at += length) {
            length = length(off, at);
            if (length == 0) {
                return "a jump over instructions";
            }
            instructions++;
        }
        return instructions == 1 ? "a jump over 1 instruction" : "a jump over " + instructions + " instructions";
    }

    private int length(Listed code, int at) {
        Disassembler.Instruction instruction = instruction(code, at);
        return instruction == null ? 0 : instruction.length();
    }

    private Disassembler.@Nullable Instruction instruction(Listed code, int at) {
        return disassembler == null
                ? null
                : disassembler.first(Arrays.copyOfRange(code.bytes, at, code.bytes.length), code.address + at);
    }

    /// All instructions; undecodable bytes as bytes.
    private void show(String title, Listed code, PrintStream out) {
        out.printf("  %s%n", title);
        int at = 0;
        while (at < code.bytes.length) {
            at += one(code, at, out);
        }
    }

    /// First what is executed, then what is reachable only through a trap.
    private void jump(Listed code, PrintStream out) {
        int at = one(code, 0, out);
        while (at < code.bytes.length) {
            at += rest(code, at, "not executed", out);
        }
    }

    private int one(Listed code, int at, PrintStream out) {
        Disassembler.Instruction instruction = instruction(code, at);
        if (instruction == null) {
            return rest(code, at, "", out);
        }
        line(code, at, instruction.length(), instruction.text(), out);
        return instruction.length();
    }

    private static int rest(Listed code, int at, String text, PrintStream out) {
        int length = Math.min(LINE_BYTES, code.bytes.length - at);
        line(code, at, length, text, out);
        return length;
    }

    private static void line(Listed code, int at, int length, String text, PrintStream out) {
        String line = "    %x  %-20s  %s"
                .formatted(code.address + at, HexFormat.of().formatHex(code.bytes, at, at + length), text);
        out.println(line.stripTrailing());
    }
}
