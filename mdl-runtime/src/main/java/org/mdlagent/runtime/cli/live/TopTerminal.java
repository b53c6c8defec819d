package org.mdlagent.runtime.cli.live;

import java.io.IOException;
import java.util.List;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;
import org.jspecify.annotations.Nullable;

/// Owns the whole terminal from creation to [#close], which also happens when a signal ends this process.
///
/// Only changes are written, so nothing flickers. The size is read before each update, so that resizing needs
/// no signal.
final class TopTerminal implements AutoCloseable {
    /// No key came.
    static final int NOTHING = -1;

    /// Input within this time after an escape character belongs to it.
    private static final long SEQUENCE_MILLIS = 50;

    private static final int USUAL_COLUMNS = 80;
    private static final int USUAL_ROWS = 24;

    private final Terminal terminal;
    private final Attributes before;
    private final Display display;
    private final Thread atExit = new Thread(this::restore);
    private @Nullable Size size;

    TopTerminal() throws IOException {
        terminal = TerminalBuilder.builder()
                .system(true)
                .provider("ffm")
                .nativeSignals(false)
                .build();
        before = terminal.enterRawMode();
        Attributes raw = terminal.getAttributes();
        raw.setLocalFlag(Attributes.LocalFlag.ISIG, false);
        terminal.setAttributes(raw);
        display = new Display(terminal, true);
        Runtime.getRuntime().addShutdownHook(atExit);
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        terminal.flush();
    }

    /// The current columns and rows.
    Size size() {
        Size now = usable(terminal.getSize());
        if (!now.equals(size)) {
            size = now;
            display.clear();
            display.resize(now);
        }
        return now;
    }

    /// Serial lines and some containers' terminals report 0 for unknown sizes.
    static Size usable(Size told) {
        return told.getColumns() > 0 && told.getRows() > 0 ? told : Size.of(USUAL_COLUMNS, USUAL_ROWS);
    }

    /// Displays these lines.
    void show(List<String> lines) {
        display.update(lines.stream().map(AttributedString::fromAnsi).toList(), 0);
    }

    /// The next key, as [TopScreen#press] takes it; [#NOTHING] when none arrives within `millis`.
    int key(long millis) throws IOException {
        NonBlockingReader reader = terminal.reader();
        int key = reader.read(Math.max(1, millis));
        if (key == NonBlockingReader.EOF) {
            throw new IOException("the terminal is gone");
        }
        if (key == NonBlockingReader.READ_EXPIRED) {
            return NOTHING;
        }
        return key == TopScreen.ESCAPE ? sequence(reader) : key;
    }

    /// The keys of ECMA-48 terminals: `ESC [ A`, `ESC O A`, `ESC [ 5 ~`.
    private static int sequence(NonBlockingReader reader) throws IOException {
        int second = reader.read(SEQUENCE_MILLIS);
        if (second != '[' && second != 'O') {
            return TopScreen.ESCAPE;
        }
        int number = 0;
        int key = reader.read(SEQUENCE_MILLIS);
        for (; key >= '0' && key <= '9' || key == ';'; key = reader.read(SEQUENCE_MILLIS)) {
            number = key == ';' ? 0 : 10 * number + key - '0';
        }
        return switch (key) {
            case 'A' -> TopScreen.UP;
            case 'B' -> TopScreen.DOWN;
            case 'H' -> TopScreen.HOME;
            case 'F' -> TopScreen.END;
            case '~' ->
                switch (number) {
                    case 1, 7 -> TopScreen.HOME;
                    case 4, 8 -> TopScreen.END;
                    case 5 -> TopScreen.PAGE_UP;
                    case 6 -> TopScreen.PAGE_DOWN;
                    default -> NOTHING;
                };
            default -> NOTHING;
        };
    }

    private void restore() {
        terminal.puts(Capability.cursor_normal);
        terminal.puts(Capability.exit_ca_mode);
        terminal.flush();
        terminal.setAttributes(before);
    }

    @Override
    public void close() throws IOException {
        restore();
        Runtime.getRuntime().removeShutdownHook(atExit);
        terminal.close();
    }
}
