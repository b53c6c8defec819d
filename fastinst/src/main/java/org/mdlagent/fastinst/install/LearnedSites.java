package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.shim.Memory;

/// Sites whose function the code does not show: the shim learns it at their first call and writes it to their
/// record. This class then adds them to the sites of that function.
public final class LearnedSites {
    private final SiteTable sites;
    private final FunctionTable functions;
    private final long header;

    /// Sites whose function is still unknown.
    private final List<Integer> unknown = new ArrayList<>();

    private int lastCount;

    public LearnedSites(SiteTable sites, FunctionTable functions, long header) {
        this.sites = sites;
        this.functions = functions;
        this.header = header;
    }

    /// Number of times that the shim has learned a site's function.
    public int count() {
        return Memory.getIntAcquire(header + HeaderDescriptor.LEARNED);
    }

    /// Adds a site, whose function is [FunctionTable#unknown] until its first call.
    void add(int site) {
        unknown.add(site);
    }

    /// Whether any site's function is still unknown.
    public boolean isAnyUnknown() {
        return !unknown.isEmpty();
    }

    /// Assigns sites to the functions that their first calls have shown, and removes sites whose function
    /// turned out to vary.
    ///
    /// @return the functions whose sites have changed
    public Set<Integer> adopt() {
        int learned = count();
        if (learned == lastCount) {
            return Set.of();
        }
        Set<Integer> changed = new HashSet<>();
        int expected = learned - lastCount;
        lastCount = learned;
        int kept = 0;
        for (int site : unknown) {
            SiteRecord record = sites.get(site);
            FunctionRecord function = record.functionAcquire();
            if (function.address() == functions.unknown()) {
                unknown.set(kept++, site);
                continue;
            }
            functions.function(function.index()).add(site, record.kind());
            changed.add(function.index());
            expected--;
        }
        unknown.subList(kept, unknown.size()).clear();
        if (expected > 0) {
            removeVarying(changed);
        }
        for (int function : changed) {
            functions.writeSites(function);
        }
        return changed;
    }

    private void removeVarying(Set<Integer> changed) {
        for (int i = 0; i < functions.count(); i++) {
            if (functions.removeSites(i, site -> sites.get(site).varies())) {
                changed.add(i);
            }
        }
    }
}
