package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.ProbePoint;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Collector;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;

/// `probes on FUNCTIONS`, `probes off FUNCTIONS`: the functions that the profiler records. `probes sliced`,
/// `probes exact`, `probes N`: which of their calls it times ([Tier]). `probes list FIRST FUNCTIONS`: number in the
/// session, name, image, and on or off. `probes points FIRST FUNCTIONS`: their sites in memory. Both list from the
/// FIRST one on, as many as fit; one line each, with columns separated by tabs. Columns of sites:
///
/// | column | |
/// | --- | --- |
/// | function, image | |
/// | kind, form | [SiteKind] and [SiteInstruction.Form] |
/// | on or off | |
/// | address, bytes when off, bytes when on | of the changed bytes; hexadecimal, as all following columns |
/// | offset and size of the toggling store | |
/// | site, its bytes | if a gate is changed instead; else 0 and empty |
/// | hop, its bytes | 0 and empty if the jump leads to the stub or gate |
/// | stub | |
/// | copy, its bytes | of displaced instructions; 0 and empty if there are none |
///
/// FUNCTIONS is a [FunctionGlob], or `#` and a function's number in the session.
///
/// Sites shared by several functions, and the program's own clients, are not changed.
final class ProbesCommand implements Command {
    /// Below the socket's limit.
    private static final int ANSWER_CHARS = 15_000;

    /// So many lines fit as JSON with their members' names.
    private static final int LISTED_MAX = 200;

    /// Characters may take six bytes in JSON.
    private static final int LISTED_CHARS = 8_000;

    private static final String ON = "on";
    private static final String POINTS = "points";
    private static final String LIST = "list";

    private final Probes probes;
    private final Collector collector;
    private final OnDemand onDemand;

    ProbesCommand(Probes probes, Collector collector, OnDemand onDemand) {
        this.probes = probes;
        this.collector = collector;
        this.onDemand = onDemand;
    }

    @Override
    public String execute(String arguments) {
        int blank = arguments.indexOf(' ');
        String state = blank < 0 ? arguments : arguments.substring(0, blank);
        if (state.equals(POINTS) || state.equals(LIST)) {
            return from(state, arguments.substring(state.length()).strip());
        }
        Consumer<List<Integer>> action = action(state);
        if (blank < 0 || action == null) {
            throw new IllegalArgumentException(
                    "probes are switched by: probes on|off FUNCTIONS, probes sliced|exact|N FUNCTIONS, and shown by: probes"
                            + " list|points FIRST FUNCTIONS");
        }
        String wanted = arguments.substring(blank).strip();
        if (state.equals(ON)) {
            open(wanted);
        }
        List<Integer> functions = find(wanted);
        action.accept(functions);
        return functions.size() + (functions.size() == 1 ? " function " : " functions ") + state + "\n";
    }

    private @Nullable Consumer<List<Integer>> action(String state) {
        return switch (state) {
            case ON -> collector::reopen;
            case "off" -> collector::close;
            case "sliced" -> functions -> collector.setTier(functions, Tier.SLICED);
            case "exact" -> functions -> collector.setTier(functions, Tier.EXACT);
            default -> byChance(state);
        };
    }

    private @Nullable Consumer<List<Integer>> byChance(String mean) {
        try {
            int calls = Integer.parseInt(mean);
            if (calls <= Tier.EXACT.mean()) {
                return null;
            }
            Tier tier = new Tier(calls);
            return functions -> collector.setTier(functions, tier);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private String from(String what, String arguments) {
        int blank = arguments.indexOf(' ');
        if (blank < 0) {
            throw new IllegalArgumentException("probes are shown by: probes " + what + " FIRST FUNCTIONS");
        }
        int first = Integer.parseUnsignedInt(arguments.substring(0, blank));
        List<Integer> functions = find(arguments.substring(blank).strip());
        return what.equals(LIST) ? list(functions, first) : points(functions, first);
    }

    private String list(List<Integer> functions, int first) {
        StringBuilder lines = new StringBuilder();
        int end = (int) Math.min(functions.size(), (long) first + LISTED_MAX);
        for (int i = first; i < end; i++) {
            int function = functions.get(i);
            String line = String.join(
                            "\t",
                            Integer.toString(function),
                            oneLine(probes.functionName(function)),
                            oneLine(probes.functionImage(function)),
                            probes.isLeftOut(function) ? "off" : ON)
                    + "\n";
            if (!lines.isEmpty() && lines.length() + line.length() > LISTED_CHARS) {
                break;
            }
            lines.append(line);
        }
        return lines.toString();
    }

    private String points(List<Integer> functions, int first) {
        List<ProbePoint> all = probes.points(functions);
        StringBuilder lines = new StringBuilder();
        for (int i = first; i < all.size(); i++) {
            String line = line(all.get(i));
            if (!lines.isEmpty() && lines.length() + line.length() > ANSWER_CHARS) {
                break;
            }
            lines.append(line);
        }
        return lines.toString();
    }

    private static String line(ProbePoint point) {
        HexFormat hex = HexFormat.of();
        ProbePoint.Versions versions = point.versions();
        return String.join(
                        "\t",
                        oneLine(point.function()),
                        oneLine(point.image()),
                        point.kind().name(),
                        point.form().name(),
                        point.on() ? "on" : "off",
                        Long.toHexString(versions.address()),
                        hex.formatHex(versions.off()),
                        hex.formatHex(versions.on()),
                        Integer.toHexString(versions.storeAt()),
                        Integer.toHexString(versions.storeSize()),
                        Long.toHexString(point.gated().address()),
                        hex.formatHex(point.gated().bytes()),
                        Long.toHexString(point.hop().address()),
                        hex.formatHex(point.hop().bytes()),
                        Long.toHexString(point.stub()),
                        Long.toHexString(point.copy().address()),
                        hex.formatHex(point.copy().bytes()))
                + "\n";
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    /// Functions of libraries not named before may have no probes yet.
    private void open(String wanted) {
        if (!wanted.startsWith("#")) {
            try {
                onDemand.open(FunctionGlob.of(wanted));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private List<Integer> find(String wanted) {
        List<Integer> found = wanted.startsWith("#")
                ? numbered(wanted.substring(1))
                : probes.functions(new Matching(FunctionGlob.of(wanted)));
        if (found.isEmpty()) {
            throw new IllegalArgumentException("no function with probes is " + wanted);
        }
        return found;
    }

    private List<Integer> numbered(String digits) {
        try {
            int number = Integer.parseInt(digits);
            return number >= 0 && number < probes.functionCount() ? List.of(number) : List.of();
        } catch (NumberFormatException e) {
            return List.of();
        }
    }
}
