package org.mdlagent.fastinst.calls;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.install.Trampolines;
import org.mdlagent.fastinst.provider.FunctionRanges;

/// Looks up calls by where they return to: in the code of images with probes, in what of it is inlined, or in a stub,
/// for which the body that it has called has called on as a sibling.
///
/// Code is read from its copy, since an image may just have been closed. Used by one thread, the agent's.
public final class CallSites {
    private final NativeApi api;
    private final List<Library> libraries;
    private final CodeMemory code;
    private final InstructionSet instructions;

    /// Hooks by address, null until they are needed.
    private @Nullable NavigableMap<Long, SiteInstruction> hooks;

    /// What is inlined in a piece of code, by its first address.
    private final Map<Long, NavigableMap<Integer, @Nullable SiteInstruction>> scopes = new HashMap<>();

    /// @param libraries that have, or had, probes; more may come
    public CallSites(NativeApi api, List<Library> libraries, CodeMemory code, InstructionSet instructions) {
        this.api = api;
        this.libraries = libraries;
        this.code = code;
        this.instructions = instructions;
    }

    /// Forgets what stands where: images have come or gone.
    public void forget() {
        hooks = null;
        scopes.clear();
    }

    /// The call that returns to `address`, or the exit hook there.
    public CallSite at(long address) {
        for (Library library : libraries) {
            Library.Placement placement = library.current();
            if (placement == null) {
                continue;
            }
            int function = functionOfStub(address, library, placement);
            if (function == CallSite.NONE) {
                function = functionAt(address, library, placement);
            }
            if (function != CallSite.NONE) {
                return new CallSite(function, target(address, library, placement));
            }
        }
        return CallSite.UNKNOWN;
    }

    /// Index of the function whose code an address lies in, or that is inlined there, or [CallSite#NONE].
    int functionAt(long address) {
        for (Library library : libraries) {
            Library.Placement placement = library.current();
            int function = placement == null ? CallSite.NONE : functionAt(address, library, placement);
            if (function != CallSite.NONE) {
                return function;
            }
        }
        return CallSite.NONE;
    }

    private static int functionOfStub(long address, Library library, Library.Placement placement) {
        for (Trampolines.OfText text : placement.texts()) {
            long function = text.functionOfStub(address);
            if (function != 0) {
                return library.functions().getOrDefault(function - placement.bias(), CallSite.NONE);
            }
        }
        return CallSite.NONE;
    }

    private int functionAt(long address, Library library, Library.Placement placement) {
        FunctionRanges.Range range = library.ranges().around(address - placement.bias());
        if (range == null) {
            return CallSite.NONE;
        }
        long start = range.start() + placement.bias();
        NavigableMap<Integer, @Nullable SiteInstruction> parts = scopes.get(start);
        if (parts == null) {
            parts = scopes(start, range.end() + placement.bias());
            scopes.put(start, parts);
        }
        Map.Entry<Integer, @Nullable SiteInstruction> part = parts.floorEntry((int) (address - start));
        SiteInstruction entry = part == null ? null : part.getValue();
        int inlined = entry == null ? CallSite.NONE : functionOf(entry, library, placement.bias());
        return inlined == CallSite.NONE ? range.function() : inlined;
    }

    /// What is inlined in the code from `start` to `end`; nothing where that cannot be found out.
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
        return whole
                ? instructions.search().inlineScopes(Memory.copy(alias, length), own, api::decode)
                : new TreeMap<>();
    }

    private NavigableMap<Long, SiteInstruction> hooks() {
        NavigableMap<Long, SiteInstruction> found = hooks;
        if (found == null) {
            found = new TreeMap<>();
            for (Library library : libraries) {
                Library.Placement placement = library.current();
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

    /// Index of the function of an entry hook, which its first call has shown if the code does not.
    private int functionOf(SiteInstruction entry, Library library, long bias) {
        Integer known = library.functions().get(entry.function() - bias);
        if (known != null) {
            return known;
        }
        int site = Objects.requireNonNull(library.sites().get(entry.address() - bias));
        long sites = Memory.getLong(api.session() + HeaderDescriptor.SITES);
        long function = Memory.getLong(sites + site * SiteDescriptor.SIZE + SiteDescriptor.FUNCTION);
        return Memory.getLong(function + FunctionDescriptor.ADDRESS) == 0
                ? CallSite.NONE
                : Memory.getInt(function + FunctionDescriptor.INDEX);
    }

    private int target(long address, Library library, Library.Placement placement) {
        int length = instructions.search().directCallLength();
        if (!code.hasAlias(address - length) || !code.hasAlias(address - 1)) {
            return CallSite.NONE;
        }
        long target =
                instructions.search().directCallTarget(Memory.copy(code.alias(address - length), length), address);
        return library.functions().getOrDefault(target - placement.bias(), CallSite.NONE);
    }
}
