package org.mdlagent.wordpatch;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.shim.CodeWriter;

/// Really stores to code, logs what happens, and runs something before and after each step. A wait ends when
/// the test says so.
final class Steps implements CodeWriter, CoreSync {
    private final CodeWriter api = CodePage.API;
    private final List<String> taken = new ArrayList<>();
    private @Nullable Runnable between;
    private int diesAt = Integer.MAX_VALUE;
    private long now;
    private boolean waits = true;

    /// Names of the steps taken so far.
    List<String> taken() {
        return taken;
    }

    void between(Runnable action) {
        between = action;
    }

    /// The patcher dies instead of taking the step with this number, counted from 0.
    void dieAt(int step) {
        diesAt = step;
    }

    /// New tickets stay in the future until [#passTime].
    void holdTime() {
        waits = false;
    }

    void passTime() {
        now++;
    }

    private void step(String name, Runnable action) {
        if (taken.size() >= diesAt) {
            diesAt = Integer.MAX_VALUE;
            throw new IllegalStateException("the patcher dies before " + name);
        }
        run();
        action.run();
        taken.add(name);
        run();
    }

    private void run() {
        if (between != null) {
            between.run();
        }
    }

    @Override
    public void store(long alias, long value, int size) {
        step("trap", () -> api.store(alias, value, size));
    }

    @Override
    public void replace(long alias, long mask, long value) {
        step("store", () -> api.replace(alias, mask, value));
    }

    @Override
    public long ticket() {
        return now + 1;
    }

    @Override
    public boolean isPast(long ticket) {
        return now >= ticket;
    }

    @Override
    public void await(long ticket) {
        if (!waits) {
            throw new IllegalStateException("the patcher waits");
        }
        step("sync", () -> now = Math.max(now, ticket));
    }
}
