package org.mdlagent.fastinst.calls;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.Transfer;
import org.mdlagent.fastinst.calls.CalleeIndex.Callee;
import org.mdlagent.fastinst.install.FunctionTable;
import org.mdlagent.fastinst.install.ProbedImage;
import org.mdlagent.fastinst.install.SiteTable;
import org.mdlagent.fastinst.provider.FunctionRanges;

/// Finds the calls made by probed functions, and the probes that see them.
public final class CallFinder implements AutoCloseable {
    private static final String INDIRECT = "its target is known only when it runs";
    private static final String NO_PROBES = "no probe of the callee is known";
    private static final String JUMP = "it is a tail jump: the callee does not return to this function";
    private static final String INLINED_IN_ITSELF = "the callee is inlined in itself, its probes see other calls too";

    /// In large programs, reading code exceeds the watchdog's timeout: a heartbeat after this many ranges.
    private static final int RANGES_PER_SIGN = 1000;

    /// Maximum calls, of 60 bytes each.
    private static final int CALLS_MAX = 400_000;

    private final NativeApi api;
    private final FunctionTable functions;
    private final SiteTable sites;
    private final ReturnSites returnSites;
    private final InstructionSet instructions;
    private final List<CalleeIndex> images = new ArrayList<>();
    private final List<Call> found = new ArrayList<>();

    /// Demangled names, by symbol.
    private final Map<String, String> names = new HashMap<>();

    public CallFinder(
            NativeApi api,
            FunctionTable functions,
            SiteTable sites,
            ReturnSites returnSites,
            InstructionSet instructions) {
        this.api = api;
        this.functions = functions;
        this.sites = sites;
        this.returnSites = returnSites;
        this.instructions = instructions;
    }

    /// The calls in images, in ascending order of address in each.
    ///
    /// @throws IOException when the file of an image cannot be read
    public List<Call> find(List<ProbedImage> probed) throws IOException {
        for (ProbedImage image : probed) {
            ProbedImage.Placement placement = image.current();
            if (placement != null) {
                images.add(new CalleeIndex(sites, image, placement));
            }
        }
        for (CalleeIndex image : images) {
            FunctionRanges ranges = image.ranges();
            for (int i = 0; i < ranges.size(); i++) {
                find(ranges.get(i), image);
                if (i % RANGES_PER_SIGN == 0) {
                    api.renewClocks();
                }
            }
        }
        return found;
    }

    private void find(FunctionRanges.Range range, CalleeIndex image) throws IOException {
        if (range.function() == ReturnSite.NONE) {
            return;
        }
        for (Transfer transfer : image.transfers(range, instructions, api::decode)) {
            Callee callee = callee(transfer, image);
            if (transfer.isCall() || callee != null && callee.isOtherThan(range.function())) {
                add(transfer, callee == null ? Callee.UNKNOWN : callee, image.bias(), range.function());
            }
        }
    }

    /// @param around index of the function that contains the code
    private void add(Transfer transfer, Callee callee, long bias, int around) throws IOException {
        int inlined = returnSites.functionAt(bias + transfer.address());
        long caller =
                functions.get(inlined == ReturnSite.NONE ? around : inlined).code();
        String obstacle = obstacle(transfer, callee);
        if (found.size() == CALLS_MAX) {
            throw new IOException("the program has more than " + CALLS_MAX);
        }
        found.add(new Call(
                caller,
                bias + transfer.address() - caller,
                bias + transfer.end(),
                names.computeIfAbsent(callee.symbol(), api::demangle),
                obstacle == null ? callee.entries() : List.of(),
                obstacle == null ? callee.returns() : List.of(),
                obstacle));
    }

    private static @Nullable String obstacle(Transfer transfer, Callee callee) {
        if (!transfer.isCall()) {
            return JUMP;
        }
        if (callee.entries().isEmpty()) {
            return callee.equals(Callee.UNKNOWN) ? INDIRECT : NO_PROBES;
        }
        return callee.inlinedInItself() ? INLINED_IN_ITSELF : null;
    }

    /// The target of a transfer; null when unknown, or when no function begins there.
    private @Nullable Callee callee(Transfer transfer, CalleeIndex image) throws IOException {
        return switch (transfer.kind()) {
            case CALL, JUMP -> direct(transfer.target(), image);
            case CALL_BY_SLOT, JUMP_BY_SLOT -> bySlot(transfer.target(), image);
            case CALL_INDIRECT -> null;
        };
    }

    private @Nullable Callee direct(long target, CalleeIndex image) throws IOException {
        Callee callee = image.at(target);
        long slot = callee == null || callee.entries().isEmpty() ? image.linkageSlot(target, instructions) : 0;
        return slot == 0 ? callee : bySlot(slot, image);
    }

    /// The dynamic linker stores one of the functions with that name there, possibly later.
    private @Nullable Callee bySlot(long slot, CalleeIndex image) throws IOException {
        String symbol = image.symbolOfSlot(slot);
        if (symbol == null) {
            return null;
        }
        List<Callee> offered = new ArrayList<>();
        for (CalleeIndex other : images) {
            Callee callee = other.offered(symbol);
            if (callee != null) {
                offered.add(callee);
            }
        }
        return Callee.oneOf(symbol, offered);
    }

    @Override
    public void close() throws IOException {
        for (CalleeIndex image : images) {
            image.close();
        }
    }
}
