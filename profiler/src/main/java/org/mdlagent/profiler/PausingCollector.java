package org.mdlagent.profiler;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/// A collector that switches another one on and off. While it is off, all functions that can pause are closed.
///
/// What somebody has closed by a request stays closed. What is opened or reopened while it is off waits until it is on.
abstract class PausingCollector extends DelegatingCollector {
    private final IntPredicate isClosed;
    private final Set<Integer> opened = new LinkedHashSet<>();
    private final Set<Integer> waiting = new LinkedHashSet<>();
    private boolean on;

    /// @param isClosed whether a function is closed now
    /// @param on       whether it collects at first
    PausingCollector(Collector collector, IntPredicate isClosed, boolean on) {
        super(collector);
        this.isClosed = isClosed;
        this.on = on;
    }

    /// Whether a function is closed while it is off.
    boolean canPause(int function) {
        return true;
    }

    final boolean isOn() {
        return on;
    }

    final void setOn(boolean on) {
        if (on == this.on) {
            return;
        }
        this.on = on;
        if (on) {
            collector.reopen(new ArrayList<>(waiting));
            waiting.clear();
        } else {
            pause();
        }
    }

    private void pause() {
        List<Integer> open =
                opened.stream().filter(function -> !isClosed.test(function)).toList();
        waiting.addAll(open);
        collector.close(open);
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        collector.open(functions, whole);
        functions.stream().filter(this::canPause).forEach(opened::add);
        if (!on) {
            pause();
        }
    }

    @Override
    public void reopen(List<Integer> functions) {
        List<Integer> now = new ArrayList<>();
        for (int function : functions) {
            if (on || !canPause(function)) {
                now.add(function);
            } else {
                waiting.add(function);
            }
        }
        collector.reopen(now);
    }

    @Override
    public void close(List<Integer> functions) {
        functions.forEach(waiting::remove);
        collector.close(functions);
    }
}
