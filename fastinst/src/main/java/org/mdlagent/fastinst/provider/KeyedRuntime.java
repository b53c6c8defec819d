package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.site.CodeSearch;

/// Runtimes that look up return addresses in tables of their own: to find what a frame holds, a collector takes the
/// return address on the stack as the key. The address of a stub is no key, and the program ends. So nothing may stand
/// on the stack between two functions of such a runtime: calls are counted at the entry, or the code is left alone.
///
/// An image is recognised by what it cannot hide: a symbol that its runtime needs, a section, or the table itself
/// ([ReturnAddresses]). All its functions are counted, those in C too: some of a runtime's own functions take their
/// return address off the stack.
///
/// Go has a provider of its own ([GoProvider]).
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
        /// Of OCaml 5 and later: functions enlarge the stacks of fibers.
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
        for (KeyedRuntime runtime : values()) {
            if (runtime.sign.isIn(elf, search)) {
                return runtime;
            }
        }
        return null;
    }

    /// Whether its functions have no probes at all.
    public boolean leftAlone() {
        return treatment == Treatment.LEFT_ALONE;
    }

    /// Why calls are counted only, or functions left alone.
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
