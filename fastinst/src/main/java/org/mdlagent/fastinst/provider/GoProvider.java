package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPuns;

/// Unmodified Go programs: calls are counted after a function has checked for room on its goroutine's stack.
///
/// Assumes
///   A1 goroutines run on threads that libc has made (cgo), so that these are known by their thread-local storage
///      from their start: a goroutine's stack has no room for the code that registers a thread
///   A2 Go's runtime blocks and handles signals itself: no byte of a jump traps
///   A3 it finds the function of each address on a stack: a probe leaves no address there, and relocated
///      instructions neither call nor fault
///   A4 functions in [#OF_RUNTIME] may run on other stacks, with signals blocked, or in a process that is being
///      forked: they are left alone
public final class GoProvider implements ProbeProvider {
    private static final List<String> OF_RUNTIME = List.of(
            "runtime.",
            "runtime/",
            "internal/",
            "reflect.",
            "sync/atomic.",
            "syscall.",
            "type:",
            "type.",
            "go:",
            "go.",
            "_cgo",
            "x_cgo",
            "crosscall");

    /// Most Go functions without the check call nothing.
    private static final String NO_CHECK = "they do not check whether their stack has room";

    private final NativeApi api;
    private final InstructionSet instructions;
    private final LoadedImage program;
    private final FunctionSelection selection;

    public GoProvider(NativeApi api, InstructionSet instructions, LoadedImage program, FunctionSelection selection) {
        this.api = api;
        this.instructions = instructions;
        this.program = program;
        this.selection = selection;
    }

    @Override
    public @Nullable ImageProbes discover(
            LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes) throws IOException {
        if (!elf.isGo() || !image.equals(program) && !selection.names(image.path())) {
            return null;
        }
        String reason = leftAlone(elf);
        if (reason == null && !image.equals(program)) {
            reason = "it is a Go library: only Go programs are probed";
        }
        int flags = Memory.getInt(api.session() + HeaderDescriptor.FLAGS);
        if (reason == null && (flags & HeaderDescriptor.FLAG_KNOWN_THREADS) == 0) {
            reason = "its threads are not known from their beginning: it has no note of Go's build id";
        }
        if (reason != null) {
            notes.add(image.path() + ": left alone: " + reason);
            return null;
        }
        EntrySites sites = new EntrySites(image, elf, instructions, selection.of(image, elf), null);
        Census census =
                census(elf, instructions, start -> sites.wants(start + image.bias()), (start, checked, length) -> {
                    byte[] code = elf.code(start, length);
                    boolean same = Arrays.equals(Memory.copy(start + image.bias(), code.length), code);
                    if (same) {
                        sites.addBare(checked.pun().at(image.bias()), checked.rules());
                    }
                });
        notes.add(image.path() + ": in Go: calls are counted, of " + census);
        return sites.toProbes();
    }

    /// Why the functions of a Go file cannot be counted; null when they can.
    public static @Nullable String leftAlone(ElfFile elf) throws IOException {
        DynamicSection linking = elf.dynamic();
        if (linking == null || !linking.imports("pthread_create")) {
            return "its threads are made by Go itself, not by libc; build it with CGO_ENABLED=1 and -ldflags=-linkmode=external";
        }
        return elf.goFunctions() == null ? "its table of functions is not one of Go 1.18 or later" : null;
    }

    /// Numbers of functions.
    ///
    /// @param counted   functions whose calls can be counted
    /// @param ofRuntime functions left alone because they belong to Go's runtime
    /// @param others    functions with a different entry sequence
    public record Census(int counted, int ofRuntime, int others) {
        @Override
        public String toString() {
            return "%,d functions; left alone are %,d of Go's runtime, and %,d because %s"
                    .formatted(counted, ofRuntime, others, NO_CHECK);
        }
    }

    private interface Receiver {
        void accept(long start, EntryPuns.Checked checked, int length) throws IOException;
    }

    /// For the file of a program that is not left alone.
    public static Census census(ElfFile elf) throws IOException {
        return census(elf, InstructionSet.host(), start -> true, (start, checked, length) -> {});
    }

    private static Census census(ElfFile elf, InstructionSet instructions, Predicate<Long> wanted, Receiver receiver)
            throws IOException {
        SymbolTable functions = elf.goFunctions();
        int counted = 0;
        int ofRuntime = 0;
        int others = 0;
        for (int i = 0; functions != null && i < functions.size(); i++) {
            long start = functions.start(i);
            if (!wanted.test(start)) {
                continue;
            }
            if (OF_RUNTIME.stream().anyMatch(functions.name(i)::startsWith)) {
                ofRuntime++;
                continue;
            }
            int length = (int) Math.min(functions.length(i), EntryPuns.READ_MAX);
            EntryPuns.Checked checked = instructions.puns().checked(elf.code(start, length), start);
            if (checked == null) {
                others++;
            } else {
                counted++;
                receiver.accept(start, checked, length);
            }
        }
        return new Census(counted, ofRuntime, others);
    }
}
