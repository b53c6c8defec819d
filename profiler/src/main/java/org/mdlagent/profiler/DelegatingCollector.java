package org.mdlagent.profiler;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.install.Tier;

/// A collector around another one, to which it leaves all that a subclass does not change.
abstract class DelegatingCollector implements Collector {
    final Collector collector;

    DelegatingCollector(Collector collector) {
        this.collector = collector;
    }

    @Override
    public void reopen(List<Integer> functions) {
        collector.reopen(functions);
    }

    @Override
    public void close(List<Integer> functions) {
        collector.close(functions);
    }

    @Override
    public void setTier(List<Integer> functions, Tier tier) {
        collector.setTier(functions, tier);
    }

    @Override
    public double lookAtWaits() {
        return collector.lookAtWaits();
    }

    @Override
    public double urgentNanos() {
        return collector.urgentNanos();
    }

    @Override
    public @Nullable String hotImage() {
        return collector.hotImage();
    }

    @Override
    public boolean settle() {
        return collector.settle();
    }

    @Override
    public void rest() {
        collector.rest();
    }
}
