package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.BitSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.CodeSearch.FunctionUses;

/// The compiler options that prepare a program for probes.
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

    /// How an image was compiled, as far as its file tells; null when there is nothing to probe.
    ///
    /// @throws IOException when the file is damaged
    public static @Nullable Instrumentation of(ElfFile elf, CodeSearch search) throws IOException {
        DynamicSection dynamic = elf.dynamic();
        if (dynamic != null && takesHook(dynamic) || callsOwnHook(elf, search)) {
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

    private static boolean takesHook(DynamicSection dynamic) throws IOException {
        return dynamic.imports(InstrumentFunctionsProvider.ENTER)
                || !dynamic.slotsOf(Set.of(InstrumentFunctionsProvider.ENTER)).isEmpty();
    }

    /// The C library defines the hook as well, and calls it nowhere.
    private static boolean callsOwnHook(ElfFile elf, CodeSearch search) throws IOException {
        if (!elf.mentions(InstrumentFunctionsProvider.ENTER)) {
            return false;
        }
        SymbolTable symbols = elf.symbols();
        for (int i = 0; i < symbols.size(); i++) {
            if (symbols.name(i).equals(InstrumentFunctionsProvider.ENTER) && isUsed(elf, search, symbols.start(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isUsed(ElfFile elf, CodeSearch search, long function) throws IOException {
        BitSet start = new BitSet();
        start.set(0);
        Uses uses = new Uses();
        for (Segment segment : elf.executableSegments()) {
            byte[] code = elf.code(segment.address(), segment.fileSize());
            search.findReferences(code, segment.address(), !elf.positionIndependent(), function, start, uses);
        }
        return uses.seen;
    }

    private static final class Uses implements FunctionUses {
        boolean seen;

        @Override
        public void jump(long from, long function, boolean conditional) {
            seen = true;
        }

        @Override
        public void reference(long function) {
            seen = true;
        }
    }
}
