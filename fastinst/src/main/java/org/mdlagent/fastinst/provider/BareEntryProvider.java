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
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.Refusal;

/// Code that no compiler has prepared: functions at whose entry a jump can take the place of the first instructions.
public final class BareEntryProvider implements ProbeProvider {
    /// The table of functions that Go's runtime has.
    private static final String GO_FUNCTIONS = ".gopclntab";

    /// libc, the dynamic linker, the unwinder, and what the agent brings along.
    private static final List<String> SYSTEM =
            List.of("libc.so", "libc-", "ld-linux", "ld-2", "libgcc_s", "libunwind", "libmdlagent", "libjvm", "libZy");

    private final NativeApi api;
    private final InstructionSet instructions;
    private final LoadedImage program;
    private final FunctionSelection selection;

    /// @param program the image whose functions are probed so, and those of others that are named
    public BareEntryProvider(
            NativeApi api, InstructionSet instructions, LoadedImage program, FunctionSelection selection) {
        this.api = api;
        this.instructions = instructions;
        this.program = program;
        this.selection = selection;
    }

    @Override
    public @Nullable ImageProbes discover(LoadedImage image, ElfFile elf, List<String> notes) throws IOException {
        if (elf.ehFrame() == null || !image.equals(program) && !selection.names(image.path())) {
            return null;
        }
        String reason = leftAlone(image.path(), elf);
        if (reason != null) {
            notes.add(image.path() + ": left alone: " + reason);
            return null;
        }
        EntrySites sites = new EntrySites(image, elf, instructions, selection.of(image, elf));
        FunctionEntries functions = FunctionEntries.of(elf, instructions.search());
        Map<Refusal, Integer> refused = new EnumMap<>(Refusal.class);
        int wanted = 0;
        for (int i = 0; i < functions.size(); i++) {
            if (!sites.wants(functions.start(i) + image.bias())) {
                continue;
            }
            wanted++;
            switch (entry(functions, i, image.bias())) {
                case EntryPun pun ->
                    sites.addBare(pun.at(image.bias()), Objects.requireNonNull(functions.rules(i, pun.site())));
                case Refusal refusal -> refused.merge(refusal, 1, Integer::sum);
            }
        }
        if (!refused.isEmpty()) {
            List<String> counts = new ArrayList<>();
            refused.forEach((refusal, count) -> counts.add(count + " for: " + refusal.reason()));
            notes.add(image.path() + ": of " + wanted + " functions are left alone: " + String.join(", ", counts));
        }
        return sites.toProbes();
    }

    private EntryPuns.Fit entry(FunctionEntries functions, int function, long bias) throws IOException {
        EntryPuns.Fit fit = functions.entry(function, instructions.puns(), api::decode);
        byte[] code = functions.code(function);
        boolean same = Arrays.equals(Memory.copy(functions.start(function) + bias, code.length), code);
        return same || fit instanceof Refusal ? fit : Refusal.CHANGED;
    }

    /// Why no function of a file is probed as it is: the system's code is executed while signals are blocked, or walks
    /// frames; null when they may be.
    public static @Nullable String leftAlone(String path, ElfFile elf) throws IOException {
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (SYSTEM.stream().anyMatch(name::startsWith)) {
            return "it runs while signals are blocked, or looks at return addresses";
        }
        return elf.section(GO_FUNCTIONS) == null ? null : "Go moves stacks, and blocks signals without libc";
    }
}
