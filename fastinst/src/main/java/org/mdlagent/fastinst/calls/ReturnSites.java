package org.mdlagent.fastinst.calls;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.install.ProbedImage;
import org.mdlagent.fastinst.install.SiteTable;
import org.mdlagent.fastinst.install.Trampolines;
import org.mdlagent.fastinst.provider.FunctionRanges;

/// Finds calls by their return addresses: in the code of images with probes, including inlined functions, or
/// in a stub, whose body has made a sibling call.
///
/// Code is read from its copy, because an image may just have been closed. Used by one thread, the agent's.
public final class ReturnSites {
    private final List<ProbedImage> images;
    private final SiteTable sites;
    private final CodeMemory code;
    private final InstructionSet instructions;
    private final LengthDecoder decoder;

    /// Hooks by address, null until needed.
    private @Nullable NavigableMap<Long, SiteInstruction> hooks;

    /// Inlined functions in a piece of code, by its first address.
    private final Map<Long, NavigableMap<Integer, @Nullable SiteInstruction>> scopes = new HashMap<>();

    /// @param images that have or had probes; more may be added
    public ReturnSites(
            List<ProbedImage> images,
            SiteTable sites,
            CodeMemory code,
            InstructionSet instructions,
            LengthDecoder decoder) {
        this.images = images;
        this.sites = sites;
        this.decoder = decoder;
        this.code = code;
        this.instructions = instructions;
    }

    /// Drops cached addresses: images have come or gone.
    public void forget() {
        hooks = null;
        scopes.clear();
    }

    /// The call that returns to `address`, or the exit hook there.
    public ReturnSite at(long address) {
        for (ProbedImage image : images) {
            ProbedImage.Placement placement = image.current();
            if (placement == null) {
                continue;
            }
            int function = functionOfStub(address, image, placement);
            if (function == ReturnSite.NONE) {
                function = functionAt(address, image, placement);
            }
            if (function != ReturnSite.NONE) {
                return new ReturnSite(function, target(address, image, placement));
            }
        }
        return ReturnSite.UNKNOWN;
    }

    /// Whether the function that contains an address is this one, or has it inlined somewhere, with hooks.
    public boolean mayRunAt(long address, int function) {
        Code code = around(address);
        if (code == null || code.range.function() == function) {
            return code != null;
        }
        return hooks().subMap(code.range.start() + code.bias, code.range.end() + code.bias).values().stream()
                .anyMatch(hook -> hook.role() == SiteInstruction.Role.ENTRY
                        && functionOf(hook, code.image, code.bias) == function);
    }

    /// Index of the function that contains an address, ignoring inlined functions, or [ReturnSite#NONE].
    public int outermostAt(long address) {
        Code code = around(address);
        return code == null ? ReturnSite.NONE : code.range.function();
    }

    /// A function's code.
    ///
    /// @param bias what addresses are above those of `range`
    private record Code(ProbedImage image, long bias, FunctionRanges.Range range) {}

    /// The function's code that contains an address, null for none.
    private @Nullable Code around(long address) {
        for (ProbedImage image : images) {
            ProbedImage.Placement placement = image.current();
            FunctionRanges.Range range =
                    placement == null ? null : image.ranges().around(address - placement.bias());
            if (placement != null && range != null) {
                return new Code(image, placement.bias(), range);
            }
        }
        return null;
    }

    /// Index of the function that contains an address or is inlined there, or [ReturnSite#NONE].
    int functionAt(long address) {
        for (ProbedImage image : images) {
            ProbedImage.Placement placement = image.current();
            int function = placement == null ? ReturnSite.NONE : functionAt(address, image, placement);
            if (function != ReturnSite.NONE) {
                return function;
            }
        }
        return ReturnSite.NONE;
    }

    private static int functionOfStub(long address, ProbedImage image, ProbedImage.Placement placement) {
        for (Trampolines.OfText text : placement.texts()) {
            long function = text.functionOfStub(address);
            if (function != 0) {
                return image.functions().get(function - placement.bias(), ReturnSite.NONE);
            }
        }
        return ReturnSite.NONE;
    }

    private int functionAt(long address, ProbedImage image, ProbedImage.Placement placement) {
        FunctionRanges.Range range = image.ranges().around(address - placement.bias());
        if (range == null) {
            return ReturnSite.NONE;
        }
        long start = range.start() + placement.bias();
        NavigableMap<Integer, @Nullable SiteInstruction> parts = scopes.get(start);
        if (parts == null) {
            parts = scopes(start, range.end() + placement.bias());
            scopes.put(start, parts);
        }
        Map.Entry<Integer, @Nullable SiteInstruction> part = parts.floorEntry((int) (address - start));
        SiteInstruction entry = part == null ? null : part.getValue();
        int inlined = entry == null ? ReturnSite.NONE : functionOf(entry, image, placement.bias());
        return inlined == ReturnSite.NONE ? range.function() : inlined;
    }

    /// The functions inlined in the code from `start` to `end`; empty if they cannot be found.
    private NavigableMap<Integer, @Nullable SiteInstruction> scopes(long start, long end) {
        Map<Integer, SiteInstruction> own = new HashMap<>();
        hooks().subMap(start, end).forEach((at, hook) -> own.put((int) (at - start), hook));
        boolean inlines = own.values().stream()
                        .filter(hook -> hook.role() == SiteInstruction.Role.ENTRY)
                        .count()
                > 1;
        if (!inlines || !code.hasAlias(start) || !code.hasAlias(end - 1)) {
            return new TreeMap<>();
        }
        long alias = code.alias(start);
        int length = Math.toIntExact(end - start);
        boolean whole = code.alias(end - 1) - alias == length - 1;
        return whole ? instructions.search().inlineScopes(Memory.copy(alias, length), own, decoder) : new TreeMap<>();
    }

    private NavigableMap<Long, SiteInstruction> hooks() {
        NavigableMap<Long, SiteInstruction> found = hooks;
        if (found == null) {
            found = new TreeMap<>();
            for (ProbedImage image : images) {
                ProbedImage.Placement placement = image.current();
                for (Trampolines.Site site : placement == null ? List.<Trampolines.Site>of() : placement.sites()) {
                    SiteInstruction hook = site.hook();
                    if (hook.role() == SiteInstruction.Role.ENTRY || hook.role() == SiteInstruction.Role.EXIT) {
                        found.put(hook.address(), hook);
                    }
                }
            }
            hooks = found;
        }
        return found;
    }

    /// Index of the function of an entry hook; if the code does not tell it, its first call has.
    private int functionOf(SiteInstruction entry, ProbedImage image, long bias) {
        if (image.functions().contains(entry.function() - bias)) {
            return image.functions().get(entry.function() - bias, ReturnSite.NONE);
        }
        int site = image.sites().get(entry.address() - bias, ProbedImage.NO_SITE);
        if (site == ProbedImage.NO_SITE) {
            return ReturnSite.NONE;
        }
        FunctionRecord function = sites.get(site).functionAcquire();
        return function.code() == 0 ? ReturnSite.NONE : function.index();
    }

    private int target(long address, ProbedImage image, ProbedImage.Placement placement) {
        int length = instructions.search().directCallLength();
        if (!code.hasAlias(address - length) || !code.hasAlias(address - 1)) {
            return ReturnSite.NONE;
        }
        long target =
                instructions.search().directCallTarget(Memory.copy(code.alias(address - length), length), address);
        return image.functions().get(target - placement.bias(), ReturnSite.NONE);
    }
}
