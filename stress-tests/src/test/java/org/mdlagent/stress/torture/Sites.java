package org.mdlagent.stress.torture;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;

/// The functions that a cell's executors call, each with the patched instructions at another offset in a line.
final class Sites {
    private static final int LINE = 64;

    /// Two lines plus the code around the instructions: no two functions share a line.
    private static final int SLOT = 4 * LINE;

    private final Laboratory laboratory;
    private final List<Site> sites = new ArrayList<>();
    private final long table;
    private final long start;
    private final long bytes;

    /// @param address  of the first instruction
    /// @param function that executes it
    /// @param subject  the instructions
    /// @param split    how they lie over the boundary of an atomic unit
    record Site(long address, long function, Subject subject, String split) {}

    /// @param displacement of jumps over instructions
    Sites(Laboratory laboratory, Cell cell, int displacement) throws IOException {
        this(laboratory, cell, displacement, offsets(cell));
    }

    /// @param offsets of the instructions against the line
    Sites(Laboratory laboratory, Cell cell, int displacement, List<Integer> offsets) throws IOException {
        this.laboratory = laboratory;
        int[] heads = cell.kind().heads();
        int ways = 1 + heads.length;
        bytes = (long) offsets.size() * ways * SLOT;
        start = cell.kind().isPun()
                ? PunInstaller.place(laboratory, displacement, bytes)
                : laboratory
                        .code()
                        .allocateNear(
                                laboratory.targets().original(),
                                laboratory.targets().other(),
                                bytes);
        for (int i = 0; i < offsets.size() * ways; i++) {
            int head = i % ways == 0 ? 0 : heads[i % ways - 1];
            sites.add(write(cell, start + (long) i * SLOT + LINE + offsets.get(i / ways), head));
        }
        table = laboratory.allocate(sites.size() * ExecutorDescriptor.SITE_SIZE);
        for (int i = 0; i < sites.size(); i++) {
            long record = table + i * ExecutorDescriptor.SITE_SIZE;
            long[] values = sites.get(i).subject.values();
            Memory.putLong(record + ExecutorDescriptor.SITE_FUNCTION, sites.get(i).function);
            for (int value = 0; value < ExecutorDescriptor.VALUES; value++) {
                Memory.putLong(
                        record + ExecutorDescriptor.SITE_VALUES + (long) value * Long.BYTES,
                        values[Math.min(value, values.length - 1)]);
            }
        }
    }

    private static List<Integer> offsets(Cell cell) {
        List<Integer> offsets = new ArrayList<>();
        int length = cell.kind().subject(0, new Targets(0, 0, 0, 0)).body().length;
        for (int copy = 0; copy < cell.copies(); copy++) {
            // Without all offsets: every split over a line, and one without a split.
            int first = cell.everyOffset() ? 0 : LINE - length;
            for (int offset = first; offset < LINE; offset++) {
                boolean cut = offset % cell.unit() + PunInstaller.JUMP > cell.unit();
                if (!cell.kind().isPun() || cut == cell.kind().isCut()) {
                    offsets.add(offset);
                }
            }
        }
        return offsets;
    }

    /// @param head of the instruction that executors reach, if not the first
    private Site write(Cell cell, long address, int head) {
        Subject subject = cell.kind().subject(address, laboratory.targets());
        SiteInstruction.Form form = cell.kind().form();
        boolean leaves = form == SiteInstruction.Form.JUMP || form == SiteInstruction.Form.JUMP_INDIRECT;
        byte[] before = leaves ? Subject.BEFORE_JUMP : subject.toHead(head);
        long function = address - before.length;
        Targets.write(laboratory.code(), function, before);
        Targets.write(laboratory.code(), address, subject.body());
        Targets.write(laboratory.code(), address + subject.body().length, Subject.AFTER);
        int changed = cell.kind().isPun() ? PunInstaller.JUMP : subject.body().length;
        return new Site(address, function, subject, split(address, changed, cell.unit()));
    }

    /// The split of bytes over the boundary of an atomic unit: "3|2", or "0|5" without a split.
    static String split(long address, int length, int unit) {
        int front = unit - (int) (address & unit - 1);
        return front < length ? front + "|" + (length - front) : "0|" + length;
    }

    /// Of the functions' memory, which begins with a page.
    long start() {
        return start;
    }

    long bytes() {
        return bytes;
    }

    List<Site> list() {
        return sites;
    }

    int count() {
        return sites.size();
    }

    /// Address of the record of an executor that runs these sites.
    ///
    /// @param focus address of the index of the site that a patcher is at
    long executor(long focus, int core, int flags) {
        long executor = laboratory.allocate(ExecutorDescriptor.SIZE);
        Memory.putLong(executor + ExecutorDescriptor.SITES, table);
        Memory.putLong(executor + ExecutorDescriptor.COUNT, sites.size());
        Memory.putLong(
                executor + ExecutorDescriptor.TALLIES,
                laboratory.allocate(sites.size() * ExecutorDescriptor.TALLY_SIZE));
        Memory.putLong(executor + ExecutorDescriptor.FOCUS, focus);
        Memory.putLong(executor + ExecutorDescriptor.TICKS_PER_MILLI, laboratory.ticksPerMilli());
        Memory.putInt(executor + ExecutorDescriptor.CORE, core);
        Memory.putInt(executor + ExecutorDescriptor.FLAGS, flags);
        return executor;
    }
}
