package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.NativeApi;

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
    private final Predicate<String> named;

    /// @param program the image whose functions are probed so
    /// @param named   whether those of another image are, by its path
    public BareEntryProvider(NativeApi api, InstructionSet instructions, LoadedImage program, Predicate<String> named) {
        this.api = api;
        this.instructions = instructions;
        this.program = program;
        this.named = named;
    }

    @Override
    public @Nullable ImageProbes discover(LoadedImage image, ElfFile elf, List<String> notes) throws IOException {
        EhFrame frames = elf.ehFrame();
        if (frames == null || !image.equals(program) && !named.test(image.path())) {
            return null;
        }
        if (isOfTheSystem(image)) {
            notes.add(image.path() + ": left alone: it runs while signals are blocked, or looks at return addresses");
            return null;
        }
        if (elf.section(GO_FUNCTIONS) != null) {
            notes.add(image.path() + ": left alone: Go moves stacks, and blocks signals without libc");
            return null;
        }
        EntrySites sites = new EntrySites(image, elf, instructions);
        FunctionEntries functions = FunctionEntries.of(elf, instructions.search());
        Map<Refusal, Integer> refused = new EnumMap<>(Refusal.class);
        for (int i = 0; i < functions.size(); i++) {
            Refusal refusal = functions.refusal(i, api::decode);
            // Data among a function's code do no harm: what a jump covers is decoded again, from the entry on.
            if (refusal == null || refusal == Refusal.UNKNOWN_INSTRUCTION) {
                long start = functions.start(i);
                sites.addBare(api, frames, frames.containing(start), start + functions.room(i));
            } else {
                refused.merge(refusal, 1, Integer::sum);
            }
        }
        if (sites.cramped() > 0 || !refused.isEmpty()) {
            notes.add(image.path() + ": of " + functions.size() + " functions are left alone: " + sites.cramped()
                    + " of which no jump can take the place of their first instructions" + said(refused));
        }
        return sites.toProbes();
    }

    private static String said(Map<Refusal, Integer> refused) {
        StringBuilder text = new StringBuilder();
        refused.forEach((refusal, count) ->
                text.append(", ").append(count).append(" for: ").append(refusal.reason()));
        return text.toString();
    }

    /// Whether threads execute it that cannot trap, or frames are walked in it.
    private static boolean isOfTheSystem(LoadedImage image) {
        String name = image.path().substring(image.path().lastIndexOf('/') + 1);
        return SYSTEM.stream().anyMatch(name::startsWith);
    }
}
