package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.site.CodeSearch;

/// Runtimes that look up return addresses in their own tables: a collector finds the contents of a frame by
/// the return address on the stack. The address of a stub is not in the table, and the program crashes. So a
/// probe must not put words on the stack between two functions of such a runtime: calls are only counted at
/// the entry, or the code is left alone.
///
/// An image is recognised by something that it cannot lack: a symbol that its runtime needs, a section, or
/// the table itself ([ReturnAddresses]). All its functions are only counted, C functions included, because
/// some of a runtime's own functions read their return address from the stack.
///
/// Go has its own provider ([GoProvider]).
public enum KeyedRuntime {
    OCAML_5(
            Treatment.LEFT_ALONE,
            "in OCaml 5: its functions run on stacks that have no room for a probe",
            Sign.OCAML_5),
    OCAML(Treatment.COUNTED, "OCaml's collector looks up return addresses in its frame table", Sign.OCAML),
    NATIVE_IMAGE(
            Treatment.COUNTED,
            "GraalVM's collector looks up return addresses in its table of code",
            (elf, search) -> elf.section(".svm_heap") != null),
    NATIVE_AOT(
            Treatment.COUNTED,
            ".NET's collector looks up return addresses in its table of methods",
            (elf, search) -> elf.section("__managedcode") != null),
    STACK_MAPS(
            Treatment.COUNTED,
            "its section .llvm_stackmaps is a table of return addresses, for a collector",
            (elf, search) -> elf.section(".llvm_stackmaps") != null),
    UNKNOWN(
            Treatment.LEFT_ALONE,
            "its data are a table of return addresses, as collectors have, and no symbol names the runtime",
            (elf, search) -> ReturnAddresses.of(elf, search).areTable());

    private enum Treatment {
        COUNTED,
        LEFT_ALONE
    }

    @FunctionalInterface
    private interface Sign {
        /// OCaml 5 and later: functions enlarge the stacks of fibers.
        Sign OCAML_5 = (elf, search) -> names(elf, List.of("caml_frametable"))
                && names(elf, List.of("caml_call_realloc_stack", "caml_try_realloc_stack", "caml_alloc_main_stack"));

        Sign OCAML = (elf, search) -> names(elf, List.of("caml_frametable"));

        boolean isIn(ElfFile elf, CodeSearch search) throws IOException;
    }

    private final Treatment treatment;
    private final String reason;
    private final Sign sign;

    KeyedRuntime(Treatment treatment, String reason, Sign sign) {
        this.treatment = treatment;
        this.reason = reason;
        this.sign = sign;
    }

    /// The runtime of an image; null when it has none of this kind.
    public static @Nullable KeyedRuntime of(ElfFile elf, CodeSearch search) throws IOException {
        return of(elf, search, null);
    }

    /// The same.
    ///
    /// @param facts about the image; null if none are kept
    static @Nullable KeyedRuntime of(ElfFile elf, CodeSearch search, @Nullable ImageFacts facts) throws IOException {
        for (KeyedRuntime runtime : values()) {
            if (runtime == UNKNOWN ? isTable(elf, search, facts) : runtime.sign.isIn(elf, search)) {
                return runtime;
            }
        }
        return null;
    }

    /// The one sign that needs time, and only the file's content.
    private static boolean isTable(ElfFile elf, CodeSearch search, @Nullable ImageFacts facts) throws IOException {
        Boolean known = facts == null ? null : facts.isTable();
        boolean isTable = known == null ? UNKNOWN.sign.isIn(elf, search) : known;
        if (facts != null) {
            facts.setTable(isTable);
        }
        return isTable;
    }

    /// Whether its functions get no probes at all.
    public boolean leftAlone() {
        return treatment == Treatment.LEFT_ALONE;
    }

    /// Why calls are only counted, or functions left alone.
    public String reason() {
        return reason;
    }

    private static boolean names(ElfFile elf, List<String> symbols) throws IOException {
        for (String symbol : symbols) {
            if (elf.names(symbol)) {
                return true;
            }
        }
        return false;
    }
}
