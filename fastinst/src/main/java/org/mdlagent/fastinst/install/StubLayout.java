package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.StubCode;
import org.mdlagent.fastinst.provider.ProbeSite;

/// The layout of a text's code, as offsets. The parts are, each aligned to 64: recording code; stubs of
/// hooks, of whole functions, and of counted functions; gates; copies of displaced instructions; counters, in
/// the order of their stubs. Places are handed out in this order, each once.
final class StubLayout {
    private static final int ALIGNMENT = 64;

    /// Size of a gate, a jump: its target field lies within one atomic unit.
    private static final int GATE = 8;

    private final StubCode stubs;
    private final int hookStubs;
    private final int wholeStubs;
    private final int countStubs;
    private final int copies;
    private final int counters;
    private final int end;
    private int nextHookStub;
    private int nextWholeStub;
    private int nextCountStub;
    private int nextGate;
    private int nextCopy;

    /// @param copiesOfSites what each site displaces
    /// @param counting      whether whole functions have counters
    StubLayout(
            StubCode stubs,
            int recordingSize,
            List<ProbeSite> sites,
            List<DisplacedEntries.Copy> copiesOfSites,
            boolean counting) {
        this.stubs = stubs;
        int whole = count(sites, SiteInstruction.Role.FUNCTION);
        int counted = count(sites, SiteInstruction.Role.COUNT) + count(sites, SiteInstruction.Role.COUNT_ALONE);
        int gated = (int) sites.stream().filter(DisplacedEntries::isGated).count();
        hookStubs = aligned(recordingSize);
        wholeStubs = hookStubs + aligned(Math.multiplyExact(sites.size() - whole - counted, stubs.hookStubSize()));
        countStubs = wholeStubs + Math.multiplyExact(whole, stubs.functionStubSize());
        int gates = countStubs + aligned(Math.multiplyExact(counted, stubs.countStubSize()));
        copies = gates + aligned(Math.multiplyExact(gated, GATE));
        counters = copies
                + aligned(copiesOfSites.stream()
                        .mapToInt(DisplacedEntries.Copy::size)
                        .reduce(0, Math::addExact));
        end = counters + (counting ? Math.multiplyExact(whole, stubs.counterSize()) : 0);
        nextHookStub = hookStubs;
        nextWholeStub = wholeStubs;
        nextCountStub = countStubs;
        nextGate = gates;
        nextCopy = copies;
    }

    private static int count(List<ProbeSite> sites, SiteInstruction.Role role) {
        return (int) sites.stream().filter(site -> site.hook().role() == role).count();
    }

    /// Offset from the stub of a whole function to its counter, 0 if there are none.
    int toCounter() {
        return counters < end ? counters - wholeStubs : 0;
    }

    /// End of the code.
    int end() {
        return end;
    }

    /// Unwind data, by offset.
    ///
    /// @param copiesOfSites as in the constructor
    List<TrampolineRange> ranges(List<DisplacedEntries.Copy> copiesOfSites) {
        List<TrampolineRange> ranges = new ArrayList<>();
        ranges.add(new TrampolineRange(0, hookStubs, TrampolineRange.Kind.RECORDING));
        addRange(hookStubs, wholeStubs, TrampolineRange.Kind.LEAF, ranges);
        addRange(wholeStubs, countStubs, TrampolineRange.Kind.FUNCTION_STUBS, ranges);
        addRange(countStubs, copies, TrampolineRange.Kind.LEAF, ranges);
        int at = copies;
        for (DisplacedEntries.Copy one : copiesOfSites) {
            if (one.size() > 0) {
                ranges.add(TrampolineRange.displaced(at, one.size(), one.rules()));
                at += one.size();
            }
        }
        addRange(counters, end, TrampolineRange.Kind.LEAF, ranges);
        return ranges;
    }

    private static void addRange(int start, int end, TrampolineRange.Kind kind, List<TrampolineRange> ranges) {
        if (start < end) {
            ranges.add(new TrampolineRange(start, end - start, kind));
        }
    }

    int nextStub(SiteInstruction.Role role) {
        return switch (role) {
            case ENTRY, EXIT -> (nextHookStub += stubs.hookStubSize()) - stubs.hookStubSize();
            case FUNCTION -> (nextWholeStub += stubs.functionStubSize()) - stubs.functionStubSize();
            case COUNT, COUNT_ALONE -> (nextCountStub += stubs.countStubSize()) - stubs.countStubSize();
        };
    }

    int nextGate() {
        return (nextGate += GATE) - GATE;
    }

    int nextCopy(int size) {
        return (nextCopy += size) - size;
    }

    private static int aligned(int size) {
        return size + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
