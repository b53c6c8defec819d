package org.mdlagent.fastinst.provider;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;

/// What compilers can be asked to leave in a program so that it can be probed.
public enum Instrumentation {
    FUNCTIONS("-finstrument-functions"),
    XRAY("-fxray-instrument"),
    PATCHABLE("-fpatchable-function-entry"),
    PROFILING("-pg");

    private final String option;

    Instrumentation(String option) {
        this.option = option;
    }

    /// The compiler's option.
    public String option() {
        return option;
    }

    /// How an image has been compiled, as far as its file tells; null when there is nothing to probe.
    ///
    /// @throws IOException when the file is damaged
    public static @Nullable Instrumentation of(ElfFile elf) throws IOException {
        DynamicSection dynamic = elf.dynamic();
        if (dynamic != null && dynamic.imports(InstrumentFunctionsProvider.ENTER) || definesHook(elf)) {
            return FUNCTIONS;
        }
        if (elf.section(XRayProvider.SECTION) != null) {
            return XRAY;
        }
        if (elf.section(PatchableEntryProvider.SECTION) != null) {
            return PATCHABLE;
        }
        boolean calls = dynamic != null
                && !dynamic.slotsOf(ProfilingCallsProvider.HOOKS).isEmpty()
                && !ProfilingCallsProvider.startsGprof(elf);
        return calls || elf.section(ProfilingCallsProvider.SECTION) != null ? PROFILING : null;
    }

    private static boolean definesHook(ElfFile elf) throws IOException {
        SymbolTable symbols = elf.symbols();
        for (int i = 0; i < symbols.size(); i++) {
            if (symbols.name(i).equals(InstrumentFunctionsProvider.ENTER)) {
                return true;
            }
        }
        return false;
    }
}
