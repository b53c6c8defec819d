package org.mdlagent.fastinst.snippet;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.EventCounter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.install.SessionTables;

/// Publishes in the session file which values of snippets are metrics, how threads' values are combined, and
/// their history. Used by one thread, the agent's.
public final class MetricTable {
    private final NativeApi api;
    private final SessionTables tables;
    private final Values values;
    private final long header;
    private final Map<Long, Shown> shown = new HashMap<>();

    /// Free records of removed metrics.
    private final Deque<Long> free = new ArrayDeque<>();

    /// A metric measured for a focus.
    ///
    /// @param id        the name that requests use
    /// @param name      for people
    /// @param focus     paths of resources, one per line; "" for the whole program
    /// @param unitsType one of `MetricDescriptor.UNITS_`
    /// @param combine   one of `MetricDescriptor.COMBINE_`
    /// @param value     a counter or timer, 0 for none
    /// @param errors    a counter, 0 for none
    /// @param pid       process to include, 0 for all
    /// @param tid       thread to include, 0 for all
    /// @param events    the kernel's counter that replaces `value`, null for none
    public record Row(
            String id,
            String name,
            String units,
            String focus,
            int unitsType,
            int combine,
            int value,
            int errors,
            int pid,
            int tid,
            @Nullable EventCounter events) {
        boolean hasValue() {
            return value != 0 || events != null;
        }
    }

    private record Shown(Row row, MetricHistory history) {}

    public MetricTable(NativeApi api, SessionTables tables, Values values) {
        this.api = api;
        this.tables = tables;
        this.values = values;
        header = api.session();
    }

    /// Publishes a metric.
    ///
    /// @return its record, for [#remove]
    /// @throws IllegalStateException when the session is full
    public long add(Row row) {
        return add(row, tables.string(row.focus), MetricDescriptor.STATE_ON);
    }

    /// Adds a metric that readers see only once a text in the session is not empty; that text is its focus.
    ///
    /// @param focus offset of the text
    /// @throws IllegalStateException when the session is full
    public long addReserved(Row row, int focus) {
        return add(row, focus, MetricDescriptor.STATE_RESERVED);
    }

    private long add(Row row, int focus, int state) {
        boolean reused = !free.isEmpty();
        long record = reused ? free.pop() : tables.allocate(MetricDescriptor.SIZE);
        write(record, row);
        Memory.putInt(record + MetricDescriptor.FOCUS, focus);
        Memory.putIntRelease(record + MetricDescriptor.STATE, state);
        if (!reused) {
            Memory.putLong(record + MetricDescriptor.NEXT, Memory.getLong(header + HeaderDescriptor.METRICS));
            Memory.putLongRelease(header + HeaderDescriptor.METRICS, record);
        }
        shown.put(record, new Shown(row, new MetricHistory(record, System.nanoTime())));
        return record;
    }

    /// Publishes the kernel's counts, and adds to the history of each metric whose interval has ended. To be
    /// called periodically.
    ///
    /// @param now nanoseconds of [System#nanoTime]
    public void observe(long now) {
        boolean renewed = false;
        for (Map.Entry<Long, Shown> one : shown.entrySet()) {
            Row row = one.getValue().row;
            if (row.events != null) {
                Memory.putLong(one.getKey() + MetricDescriptor.EVENTS, row.events.count());
            }
            if (row.hasValue() && one.getValue().history.isDue(now)) {
                if (!renewed) {
                    api.programCpuNanos(); // renews the CPU time of each thread
                    renewed = true;
                }
                one.getValue().history.add(now, api.tsc(), amount(one.getKey(), row));
            }
        }
    }

    private double amount(long record, Row row) {
        return row.events == null
                ? values.combined(row.value, row.combine, row.pid, row.tid)
                : Memory.getLong(record + MetricDescriptor.EVENTS);
    }

    /// Removes a metric from readers' view. Its values may be released after that.
    public void remove(long record) {
        Memory.putIntRelease(record + MetricDescriptor.STATE, MetricDescriptor.STATE_OFF);
        shown.remove(record);
        free.push(record);
    }

    private void write(long record, Row row) {
        Memory.putInt(record + MetricDescriptor.ID, tables.string(row.id));
        Memory.putInt(record + MetricDescriptor.NAME, tables.string(row.name));
        Memory.putInt(record + MetricDescriptor.UNITS, tables.string(row.units));
        Memory.putInt(record + MetricDescriptor.UNITS_TYPE, row.unitsType);
        Memory.putInt(record + MetricDescriptor.COMBINE, row.combine);
        Memory.putInt(record + MetricDescriptor.KIND, kind(row));
        Memory.putInt(record + MetricDescriptor.VALUE, row.value);
        Memory.putInt(record + MetricDescriptor.ERRORS, row.errors);
        Memory.putInt(record + MetricDescriptor.PID, row.pid);
        Memory.putInt(record + MetricDescriptor.TID, row.tid);
        Memory.putLong(record + MetricDescriptor.SINCE_TSC, api.tsc());
        Memory.putLong(record + MetricDescriptor.HISTORY, 0);
        Memory.putLong(record + MetricDescriptor.EVENTS, 0);
    }

    private byte kind(Row row) {
        if (row.events != null) {
            return ValueDescriptor.KIND_EVENTS;
        }
        return row.value == 0
                ? ValueDescriptor.KIND_NONE
                : Memory.getByte(Memory.getLong(header + HeaderDescriptor.VALUE_KINDS) + row.value);
    }
}
