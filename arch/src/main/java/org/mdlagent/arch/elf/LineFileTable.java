package org.mdlagent.arch.elf;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The directories and files of one line table (DWARF 5 section 6.2.4), read when its first matching row is found.
final class LineFileTable {
    private static final long CONTENT_PATH = 1;
    private static final long CONTENT_DIRECTORY = 2;
    private static final int FORM_FLAG_PRESENT = 0x19;
    private static final int FORM_IMPLICIT_CONST = 0x21;

    private final DwarfLines lines;
    private final long start;
    private final boolean numberedFromZero;
    private final Names directories;
    private final Names files;
    private final @Nullable String[] paths;

    /// @param in at the start of the directories
    /// @param start of the line table in `.debug_line`
    LineFileTable(DwarfLines lines, Cursor in, long start, int version, int offsetSize) throws ElfFormatException {
        this.lines = lines;
        this.start = start;
        this.numberedFromZero = version >= 5;
        if (version >= 5) {
            this.directories = described(in, offsetSize);
            this.files = described(in, offsetSize);
        } else {
            this.directories = listed(in, false);
            this.files = listed(in, true);
        }
        this.paths = new @Nullable String[files.size];
    }

    private Names described(Cursor in, int offsetSize) throws ElfFormatException {
        int formats = in.u8();
        long[] contents = new long[formats];
        int[] forms = new int[formats];
        for (int i = 0; i < formats; i++) {
            contents[i] = in.uleb();
            forms[i] = (int) in.uleb();
            if (forms[i] == FORM_FLAG_PRESENT || forms[i] == FORM_IMPLICIT_CONST) {
                throw in.bad("a form that takes space");
            }
        }
        long count = in.uleb();
        // Each entry takes at least a byte, so the table's size bounds the work.
        if (count < 0 || count > in.remaining() || (count > 0 && formats == 0)) {
            throw in.bad("as many entries as the table can hold");
        }
        DwarfValue value = lines.value();
        Names names = new Names((int) count);
        for (int entry = 0; entry < count; entry++) {
            Cursor textIn = null;
            long textAt = 0;
            long directory = 0;
            for (int i = 0; i < formats; i++) {
                value.read(forms[i], in, offsetSize);
                if (contents[i] == CONTENT_PATH && value.hasText()) {
                    textIn = value.textIn();
                    textAt = value.textAt();
                } else if (contents[i] == CONTENT_DIRECTORY) {
                    directory = value.number;
                }
            }
            names.add(textIn, textAt, directory);
        }
        return names;
    }

    private static Names listed(Cursor in, boolean ofFiles) throws ElfFormatException {
        Names names = new Names(8);
        while (true) {
            int textAt = in.position();
            if (in.skipString()) {
                return names;
            }
            long directory = 0;
            if (ofFiles) {
                directory = in.uleb();
                in.uleb();
                in.uleb();
            }
            names.add(in, textAt, directory);
        }
    }

    /// The path of a file by its number in the line program, or null.
    @Nullable
    String path(long number) throws ElfFormatException {
        long index = numberedFromZero ? number : number - 1;
        if (index < 0 || index >= files.size) {
            return null;
        }
        int i = (int) index;
        if (paths[i] == null) {
            String name = files.text(i);
            if (name == null) {
                return null;
            }
            paths[i] = lines.shared(absolute(name) ? name : inDirectory(files.directory[i], name));
        }
        return paths[i];
    }

    private String inDirectory(long number, String name) throws ElfFormatException {
        // Number 0 is the compilation directory, which only version 5 stores here.
        String path = name;
        if (number != 0) {
            String directory = directory(numberedFromZero ? number : number - 1);
            if (directory != null) {
                path = join(directory, name);
            }
        }
        if (absolute(path)) {
            return path;
        }
        String compiledIn = numberedFromZero ? directory(0) : lines.compilationDirectory(start);
        return compiledIn == null ? path : join(compiledIn, path);
    }

    private @Nullable String directory(long index) throws ElfFormatException {
        return index < 0 || index >= directories.size ? null : directories.text((int) index);
    }

    private static boolean absolute(String path) {
        return path.startsWith("/");
    }

    private static String join(String directory, String name) {
        return directory.isEmpty() ? name : directory.concat("/").concat(name);
    }

    /// Positions of names; most are never decoded.
    private static final class Names {
        private int size;
        private @Nullable Cursor[] textIn;
        private long[] textAt;
        private long[] directory;

        Names(int capacity) {
            this.textIn = new @Nullable Cursor[capacity];
            this.textAt = new long[capacity];
            this.directory = new long[capacity];
        }

        void add(@Nullable Cursor in, long at, long number) {
            if (size == textAt.length) {
                textIn = Arrays.copyOf(textIn, 2 * size);
                textAt = Arrays.copyOf(textAt, 2 * size);
                directory = Arrays.copyOf(directory, 2 * size);
            }
            textIn[size] = in;
            textAt[size] = at;
            directory[size] = number;
            size++;
        }

        @Nullable
        String text(int index) throws ElfFormatException {
            Cursor in = textIn[index];
            return in == null ? null : in.stringAt(textAt[index]);
        }
    }
}
