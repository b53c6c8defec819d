package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.Refusal;

/// Code that no compiler has prepared: functions whose first instructions can be replaced by a jump. Go code
/// is [GoProvider]'s.
public final class BareEntryProvider implements ProbeProvider {
    /// The dynamic linker, the unwinder, and the agent's own libraries.
    private static final List<String> SYSTEM =
            List.of("ld-linux", "ld-2", "libgcc_s", "libunwind", "libmdlagent", "libjvm", "libZy");

    /// Maximum names listed in a note for one reason.
    private static final int NAMES_MAX = 20;

    /// Functions between two heartbeats for the watchdog.
    private static final int FUNCTIONS_PER_SIGN = 1000;

    private final NativeApi api;
    private final InstructionSet instructions;
    private final LoadedImage program;
    private final FunctionSelection selection;

    /// @param program the image whose functions are probed this way; other images only if named
    public BareEntryProvider(
            NativeApi api, InstructionSet instructions, LoadedImage program, FunctionSelection selection) {
        this.api = api;
        this.instructions = instructions;
        this.program = program;
        this.selection = selection;
    }

    @Override
    public @Nullable ImageProbes discover(
            LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes) throws IOException {
        if (elf.ehFrame() == null || elf.isGo() || !image.equals(program) && !selection.names(image.path())) {
            return null;
        }
        String reason = leftAlone(image.path());
        if (reason != null) {
            notes.add(image.path() + ": left alone: " + reason);
            return null;
        }
        FunctionEntries functions = FunctionEntries.of(elf, instructions.search(), arguments);
        KeyedRuntime runtime = functions.runtime();
        if (runtime != null && runtime.leftAlone()) {
            notes.add(image.path() + ": left alone: " + runtime.reason());
            return null;
        } else if (runtime != null) {
            notes.add(image.path() + ": calls are counted only: " + runtime.reason());
        }
        return discover(image, elf, functions, selection, notes);
    }

    /// The probes of `image`, as [#discover], after its checks.
    ///
    /// @param functions of its file
    @Nullable
    ImageProbes discover(
            LoadedImage image, ElfFile elf, FunctionEntries functions, FunctionSelection wantedOnes, List<String> notes)
            throws IOException {
        EntrySites sites = new EntrySites(image, elf, instructions, wantedOnes.of(image, elf), null);
        SymbolTable symbols = elf.symbols();
        EntryPuns.Covered covered = mayNotTrap() ? EntryPuns.Covered.STAYS : covered(image.path());
        SymbolTable exported = CLibrary.is(image.path()) ? elf.exportedSymbols() : null;
        Map<Refusal, List<Long>> refused = new EnumMap<>(Refusal.class);
        Map<Long, Refusal> byName = exported == null
                ? Map.of()
                : CLibrary.refusals(exported, function -> sites.wants(function + image.bias()));
        byName.forEach((function, refusal) -> refuse(refused, refusal, function));
        int wanted = byName.size();
        for (int i = 0; i < functions.size(); i++) {
            if (i % FUNCTIONS_PER_SIGN == 0) {
                api.renewClocks();
            }
            long start = functions.start(i);
            if (byName.containsKey(start) || !sites.wants(start + image.bias())) {
                continue;
            }
            wanted++;
            if (exported != null && exported.at(start) < 0) {
                refuse(refused, Refusal.NOT_EXPORTED, start);
                continue;
            }
            // No switch: it would link method handles, which costs milliseconds at each start.
            EntryPuns.Fit entry = entry(functions, i, image.bias(), covered);
            if (entry instanceof EntryPun pun) {
                sites.addBare(pun.at(image.bias()), Objects.requireNonNull(functions.rules(i, pun.site())));
            } else {
                refuse(refused, (Refusal) entry, start);
            }
        }
        if (!refused.isEmpty()) {
            List<String> reasons = new ArrayList<>();
            refused.forEach((refusal, which) ->
                    reasons.add(which.size() + " for: " + refusal.reason() + names(which, symbols)));
            notes.add(image.path() + ": of " + wanted + " functions are left alone: " + String.join(", ", reasons));
        }
        return sites.toProbes();
    }

    private static void refuse(Map<Refusal, List<Long>> refused, Refusal refusal, long function) {
        refused.computeIfAbsent(refusal, unused -> new ArrayList<>()).add(function);
    }

    /// In parentheses, if they are few and have names.
    private static String names(List<Long> functions, SymbolTable symbols) {
        List<String> names = new ArrayList<>();
        for (long function : functions) {
            int symbol = symbols.at(function);
            if (symbol < 0 || names.size() == NAMES_MAX) {
                return "";
            }
            names.add(symbols.name(symbol));
        }
        return " (" + String.join(", ", names) + ")";
    }

    /// What happens to threads stopped at instructions that a jump covers. In the C library, they may have
    /// blocked all signals.
    public static EntryPuns.Covered covered(String path) {
        return CLibrary.is(path) ? EntryPuns.Covered.STAYS : EntryPuns.Covered.TRAPS;
    }

    /// Threads of a process that was attached to may have blocked signals before.
    private boolean mayNotTrap() {
        int flags = Memory.getInt(api.session() + HeaderDescriptor.FLAGS);
        return (flags & HeaderDescriptor.FLAG_UNTRAPPED) != 0;
    }

    private EntryPuns.Fit entry(FunctionEntries functions, int function, long bias, EntryPuns.Covered covered)
            throws IOException {
        EntryPuns.Fit fit = functions.entry(function, instructions.puns(), api::decode, covered);
        byte[] code = functions.code(function);
        boolean same = Arrays.equals(Memory.copy(functions.start(function) + bias, code.length), code);
        return same || fit instanceof Refusal ? fit : Refusal.CHANGED;
    }

    /// Why no function of an unprepared file is probed; null if functions may be. System code is excluded
    /// that walks frames or is executed before the program begins.
    public static @Nullable String leftAlone(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return SYSTEM.stream().anyMatch(name::startsWith)
                ? "it belongs to program start, unwinding or the agent"
                : null;
    }
}
