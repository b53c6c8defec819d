package org.mdlagent.runtime.cli.live;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.live.LiveFunction;
import org.mdlagent.profiler.report.live.LiveOrder;
import org.mdlagent.profiler.report.live.LiveProfile;
import org.mdlagent.profiler.report.live.LiveTable;
import org.mdlagent.profiler.report.live.LiveThread;
import org.mdlagent.runtime.options.FunctionGlob;

/// The contents of `mdl top`, and how keys change them. Independent of any terminal.
final class TopScreen {
    /// Keys that are not characters.
    static final int UP = -2;

    static final int DOWN = -3;
    static final int PAGE_UP = -4;
    static final int PAGE_DOWN = -5;
    static final int HOME = -6;
    static final int END = -7;
    static final int ESCAPE = 27;

    private static final int INTERRUPT = 3;
    private static final int DELETE = 127;
    private static final int BACKSPACE = 8;
    private static final int DETAIL_WIDTH = 44;

    /// Minimum columns for the detail beside the table; with fewer, it replaces the table.
    private static final int BESIDE_MIN = 110;

    /// Fits a terminal of 80 columns.
    private static final String KEYS = "[?] help  [enter] detail  [space] on/off  [s] sort  [/] filter  [q] quit";

    private static final List<String> HELP = List.of(
            "  KEY               WHAT IT DOES",
            "  up down, j k      select a function; page up, page down, home and end, too",
            "  enter             open it: its callers and the histogram of its latency",
            "  space             switch its probe off, or on again",
            "  s                 sort by the next column",
            "  /                 filter by a part of the name, or a pattern; esc shows all",
            "  t, m              threads; metrics that are enabled",
            "  esc               back",
            "  ?                 this page",
            "  q                 quit",
            "",
            "  COLUMN            WHAT IT SAYS",
            "  RATE              calls per second, with bars for the last ten looks",
            "  p50 p99 p99.9     latency of the calls that were timed in the last ten looks",
            "  TOTAL             time inside, in percent of the time that passed; more",
            "                    than 100 % with several threads");

    /// A request of a key that this class cannot fulfil itself.
    enum Wish {
        NONE,
        QUIT,
        TOGGLE
    }

    private final boolean colour;
    private final IntFunction<String> threadNames;
    private LiveOrder order;
    private @Nullable LiveProfile live;

    /// The functions shown, in order.
    private List<LiveFunction> functions = List.of();

    private @Nullable LiveFunction selected;

    /// Whether the selection is kept, rather than on the first line.
    private boolean chosen;

    private int first;
    private int page = 1;
    private boolean threads;
    private boolean showsMetrics;
    private boolean help;
    private List<String> metrics = List.of();
    private boolean detail;
    private boolean filtering;
    private String filter = "";
    private String message = "";

    /// @param threadNames the name of a thread by id
    TopScreen(boolean colour, LiveOrder order, IntFunction<String> threadNames) {
        this.colour = colour;
        this.order = order;
        this.threadNames = threadNames;
    }

    /// Sets the data to show.
    ///
    /// @param metricLines one line per enabled metric
    void show(LiveProfile profile, List<String> metricLines) {
        live = profile;
        metrics = metricLines;
        arrange();
    }

    /// Shows a message until the next key.
    void say(String text) {
        // Names come from files that anybody may have created.
        message = text.replaceAll("\\p{Cntrl}", "?");
    }

    /// The selected function, null for none.
    @Nullable
    LiveFunction selected() {
        return selected;
    }

    private void arrange() {
        if (live == null) {
            return;
        }
        FunctionGlob glob = glob();
        functions = order.sort(live.functions().stream()
                .filter(function -> isShown(function, glob))
                .toList());
        int row = row();
        select(Math.max(0, row));
    }

    private boolean isShown(LiveFunction function, @Nullable FunctionGlob glob) {
        if (glob == null) {
            return function.whole().calls() > 0 || !function.whole().on();
        }
        String file = Objects.requireNonNullElse(function.whole().file(), "");
        return glob.matches(function.whole().image(), file, function.whole().name());
    }

    /// A pattern may be invalid while it is being typed: then all functions are shown. Text without wildcards
    /// matches anywhere in the name.
    private @Nullable FunctionGlob glob() {
        boolean plain = filter.chars().noneMatch(c -> "*?!:".indexOf(c) >= 0);
        try {
            return filter.isEmpty() ? null : FunctionGlob.of(plain ? "*" + filter + "*" : filter);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /// The row of the selected function; -1 when it is not shown or none was chosen.
    private int row() {
        for (int i = 0; chosen && selected != null && i < functions.size(); i++) {
            if (functions.get(i).number() == selected.number()) {
                return i;
            }
        }
        return -1;
    }

    private void select(int row) {
        selected = functions.isEmpty() ? null : functions.get(Math.clamp(row, 0, functions.size() - 1));
    }

    private void move(int by) {
        int row = Math.max(0, row());
        chosen = true;
        select(Math.clamp((long) row + by, 0, Integer.MAX_VALUE));
    }

    /// Handles a key: a character, or one of the constants.
    Wish press(int key) {
        message = "";
        if (key == INTERRUPT) {
            return Wish.QUIT;
        }
        if (filtering && edit(key)) {
            return Wish.NONE;
        }
        switch (key) {
            case 'q' -> {
                return Wish.QUIT;
            }
            case ' ' -> {
                chosen = true;
                return selected == null || threads || showsMetrics ? Wish.NONE : Wish.TOGGLE;
            }
            case UP, 'k' -> move(-1);
            case DOWN, 'j' -> move(1);
            case PAGE_UP -> move(-page);
            case PAGE_DOWN -> move(page);
            case HOME -> move(Integer.MIN_VALUE);
            case END -> move(Integer.MAX_VALUE);
            case 's' -> order = order.next();
            case 't' -> {
                threads = !threads;
                showsMetrics = false;
            }
            case 'm' -> {
                showsMetrics = !showsMetrics;
                threads = false;
            }
            case '?' -> help = !help;
            case '/' -> filtering = true;
            case '\r', '\n' -> {
                chosen = true;
                detail = !detail;
            }
            case ESCAPE -> leave();
            default -> message = KEYS;
        }
        arrange();
        return Wish.NONE;
    }

    private void leave() {
        if (help) {
            help = false;
        } else if (detail) {
            detail = false;
        } else if (threads || showsMetrics) {
            threads = false;
            showsMetrics = false;
        } else {
            filter = "";
            chosen = false;
        }
    }

    /// Edits the filter; false when the key does not belong to it.
    private boolean edit(int key) {
        if (key == '\r' || key == '\n') {
            filtering = false;
        } else if (key == ESCAPE) {
            filtering = false;
            filter = "";
        } else if ((key == DELETE || key == BACKSPACE) && !filter.isEmpty()) {
            filter = filter.substring(0, filter.offsetByCodePoints(filter.length(), -1));
        } else if (key >= ' ' && key != DELETE) {
            filter += Character.toString(key);
        } else if (key < 0) {
            return false;
        }
        arrange();
        return true;
    }

    /// The whole screen, `height` lines of at most `width` columns.
    List<String> lines(int width, int height) {
        List<String> lines = new ArrayList<>();
        LiveProfile profile = live;
        if (profile == null) {
            return lines;
        }
        lines.add(new LiveTable(width, colour).facts(profile));
        page = Math.max(1, height - 3);
        lines.addAll(body(profile, width));
        while (lines.size() < height - 1) {
            lines.add("");
        }
        lines.subList(Math.max(0, height - 1), lines.size()).clear();
        lines.add(foot(width));
        return lines;
    }

    private List<String> body(LiveProfile profile, int width) {
        if (help) {
            return HELP.stream()
                    .map(line -> line.length() <= width ? line : line.substring(0, width))
                    .toList();
        }
        return showsMetrics ? metrics(width) : threads ? threads(profile, width) : functions(profile, width);
    }

    private String foot(int width) {
        String left = filtering ? "filter: " + filter + "_" : filter.isEmpty() ? "" : "filter: " + filter + "  ";
        String text = filtering ? left + "   [enter] keep  [esc] all" : left + (message.isEmpty() ? KEYS : message);
        return text.length() <= width ? text : text.substring(0, width);
    }

    private List<String> metrics(int width) {
        List<String> lines = new ArrayList<>();
        lines.add(MetricRows.HEAD);
        if (metrics.isEmpty()) {
            lines.add("  no metric is enabled: mdl enable PID METRIC");
        }
        metrics.stream()
                .limit(page)
                .map(line -> line.length() <= width ? line : line.substring(0, width))
                .forEach(lines::add);
        return lines;
    }

    private List<String> threads(LiveProfile profile, int width) {
        LiveTable table = new LiveTable(width, colour);
        List<String> lines = new ArrayList<>();
        lines.add(table.threadHead());
        for (LiveThread thread : profile.threads().stream()
                .sorted((a, b) -> Double.compare(b.rate(), a.rate()))
                .limit(page)
                .toList()) {
            lines.add(table.thread(thread, threadNames.apply(thread.whole().tid())));
        }
        return lines;
    }

    private List<String> functions(LiveProfile profile, int width) {
        LiveFunction shown = selected;
        if (!detail || shown == null) {
            return table(width);
        }
        if (width < BESIDE_MIN) {
            return new LiveTable(width, colour).detail(shown, profile.whole());
        }
        int left = width - DETAIL_WIDTH - 3;
        List<String> table = table(left);
        List<String> beside = new LiveTable(DETAIL_WIDTH, colour).detail(shown, profile.whole());
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < Math.max(table.size(), Math.min(beside.size(), page + 1)); i++) {
            String text = i < table.size() ? table.get(i) : "";
            lines.add(text + " ".repeat(left - columns(text)) + " ┃ " + (i < beside.size() ? beside.get(i) : ""));
        }
        return lines;
    }

    private List<String> table(int width) {
        LiveTable table = new LiveTable(width, colour);
        List<String> lines = new ArrayList<>();
        lines.add(table.head(order));
        if (functions.isEmpty()) {
            lines.add(filter.isEmpty() ? "  no call was seen yet" : "  no function is " + filter);
        }
        int row = Math.max(0, row());
        first = Math.clamp(first, Math.max(0, row - page + 1), row);
        for (int i = first; i < Math.min(functions.size(), first + page); i++) {
            lines.add(table.function(functions.get(i), i == row));
        }
        return lines;
    }

    /// Width of a line with ANSI sequences.
    private static int columns(String line) {
        String text = line.replaceAll("\u001b\\[[0-9;]*m", "");
        return text.codePointCount(0, text.length());
    }
}
