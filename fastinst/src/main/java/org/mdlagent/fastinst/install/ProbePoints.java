package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.SiteKind;

/// Shows the sites of functions as they are in memory, without changes.
public final class ProbePoints {
    private final List<ProbedImage> images;
    private final FunctionTable functions;
    private final SiteTable sites;
    private final InstructionSet instructions;

    /// @param images with probes, kept up to date by their owner
    public ProbePoints(
            List<ProbedImage> images, FunctionTable functions, SiteTable sites, InstructionSet instructions) {
        this.images = images;
        this.functions = functions;
        this.sites = sites;
        this.instructions = instructions;
    }

    /// In ascending order of address, image by image.
    ///
    /// @param wanted indices of functions
    public List<ProbePoint> find(List<Integer> wanted) {
        Map<Long, String> names = new HashMap<>();
        for (int function : wanted) {
            names.put(functions.address(function), functions.name(function));
        }
        Set<ProbedImage> theirs = new HashSet<>();
        wanted.forEach(function -> theirs.add(functions.function(function).image));
        List<ProbePoint> found = new ArrayList<>();
        for (ProbedImage image : images) {
            ProbedImage.Placement placement = image.current();
            if (placement == null || !theirs.contains(image)) {
                continue;
            }
            for (Trampolines.Site site : placement.sites()) {
                int index = image.siteAt(site.hook().address());
                if (index != ProbedImage.NO_SITE) {
                    SiteRecord record = sites.get(index);
                    String name = names.get(record.functionAcquire().address());
                    if (name != null) {
                        found.add(point(name, image, record.kind(), site));
                    }
                }
            }
        }
        return found;
    }

    private ProbePoint point(String function, ProbedImage image, SiteKind kind, Trampolines.Site site) {
        SiteInstruction hook = site.hook();
        PatchPlan plan = site.plan();
        // A gate is elsewhere and toggles at once; the site's own jump is installed and removed.
        boolean gated = site.gate() != 0;
        long first = gated ? site.gate() : hook.address();
        int jump = instructions.sites().hop(0, 0).length;
        long start = Math.min(first, plan.toggleAt());
        long end = Math.max(first + (gated ? jump : hook.length()), plan.toggleAt() + plan.toggleSize());
        byte[] now = Memory.copy(start, Math.toIntExact(end - start));
        int storeAt = Math.toIntExact(plan.toggleAt() - start);
        byte[] off = with(now, storeAt, plan.toggleSize(), plan.off());
        byte[] on = with(now, storeAt, plan.toggleSize(), plan.on());
        return new ProbePoint(
                function,
                image.path(),
                kind,
                hook.form(),
                Arrays.equals(now, on),
                new ProbePoint.Versions(start, off, on, storeAt, plan.toggleSize()),
                code(gated ? hook.address() : 0, gated ? hook.length() : 0),
                code(site.hop(), site.hop() == 0 ? 0 : jump),
                site.stub(),
                code(site.copySize() == 0 ? 0 : site.body(), site.copySize()));
    }

    private static ProbePoint.Code code(long address, int length) {
        return new ProbePoint.Code(address, Memory.copy(address, length));
    }

    /// Words are little-endian.
    private static byte[] with(byte[] bytes, int at, int size, long word) {
        byte[] changed = bytes.clone();
        for (int i = 0; i < size; i++) {
            changed[at + i] = (byte) (word >>> Byte.SIZE * i);
        }
        return changed;
    }
}
