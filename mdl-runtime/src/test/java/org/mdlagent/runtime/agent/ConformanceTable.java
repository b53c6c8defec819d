package org.mdlagent.runtime.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The cells of the conformance table: each provider of probes with each program.
final class ConformanceTable {
    private static final String PATCHABLE = "-fpatchable-function-entry=";

    /// What compilers do anyway.
    private static final String NOTHING = "-fno-common";

    private ConformanceTable() {}

    enum Compiler {
        GCC("gcc", "g++"),
        CLANG("clang-14", "clang++-14");

        private final String c;
        private final String cxx;

        Compiler(String c, String cxx) {
            this.c = c;
            this.cxx = cxx;
        }

        String commandFor(String source) {
            return source.endsWith(".cc") ? cxx : c;
        }
    }

    enum Seen {
        /// Calls only.
        CALLS("○"),
        /// Calls and returns, and so durations; but not that an exception leaves a function.
        RETURNS("◐"),
        /// Calls and how they end.
        ENDS("●");

        private final String mark;

        Seen(String mark) {
            this.mark = mark;
        }
    }

    /// Probes of one kind: a row.
    ///
    /// @param early whether they are made before functions are inlined
    /// @param rust the Rust compiler's option for the same probes, empty when it has none
    record Provider(Compiler compiler, String flags, Seen seen, boolean early, String rust) {
        Provider(Compiler compiler, String flags, Seen seen) {
            this(compiler, flags, seen, false, "");
        }

        /// Whether those before it are of other compilers, or are no variants of the same.
        boolean isFirstOfItsKind() {
            return PROVIDERS.stream()
                    .filter(other -> other.compiler == compiler && other.kind().equals(kind()))
                    .findFirst()
                    .orElseThrow()
                    .equals(this);
        }

        /// Whether the compiler leaves nothing for probes.
        boolean isBare() {
            return flags.equals(NOTHING);
        }

        /// Whether probes are calls in the body, which have frames of their own.
        boolean hooks() {
            return flags.equals("-finstrument-functions");
        }

        private String kind() {
            return flags.replaceFirst("=.*", "").replaceFirst("(-pg -mfentry).*", "$1");
        }

        /// The same probes, asked for by the attribute of each function that is to have them.
        Provider byAttribute() {
            return new Provider(compiler, flags.replace(PATCHABLE, "-DPATCHABLE="), seen);
        }

        @Override
        public String toString() {
            return compiler.c + " " + flags;
        }
    }

    enum Trait {
        /// Some calls never return to their caller, or take each other's place too often to be timed.
        LEAVES_FRAMES,
        /// Some have not ended when the program does.
        ENDS_WITH_LIVE_FRAMES,
        THROWS,
        ABORTS,
        /// A caller relies on what its callee does with registers.
        RELIES_ON_CALLEE,
        /// gdb runs it, and shows the stack.
        DEBUGGED,
        STRIPPED,
        /// The program is a library, and what is run is another program that calls it.
        LINKED_LIBRARY,
        OPENED_LIBRARY
    }

    /// A program, and how it is built: a column.
    record Column(String name, String source, String flags, Set<Trait> traits) {
        boolean is(Trait trait) {
            return traits.contains(trait);
        }

        boolean isRust() {
            return source.endsWith(".rs");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    record Cell(Provider provider, Column column) {
        @Override
        public String toString() {
            return provider + ": " + column;
        }

        /// Whether the gate runs this cell: together, these cells run each program with each kind of probes.
        boolean isCommon() {
            if (BEHAVIOURS.contains(column)) {
                return provider.isFirstOfItsKind() || column.source.equals("threads.c");
            }
            // One program, which is built in many ways: two kinds of probes for each, others for the next.
            List<Provider> kinds = PROVIDERS.stream()
                    .filter(kind -> kind.isFirstOfItsKind()
                            && new Cell(kind, column).reason().isEmpty())
                    .toList();
            int first = BUILDS.indexOf(column);
            return provider.equals(kinds.get(first % kinds.size()))
                    || provider.equals(kinds.get((first + kinds.size() / 2) % kinds.size()));
        }

        /// Why there is no such program, empty when there is.
        private Optional<String> reason() {
            if (provider.isBare() && (column.is(Trait.LINKED_LIBRARY) || column.is(Trait.OPENED_LIBRARY))) {
                return Optional.of("libraries have such probes only where a compiler has prepared them");
            }
            if (column.isRust() && provider.rust.isEmpty()) {
                return Optional.of("the Rust compiler makes no such probes");
            }
            if (column.flags.contains("-fomit-frame-pointer") && refusesToOmitFramePointer()) {
                return Optional.of("the compiler refuses `-fomit-frame-pointer` together with `-pg`");
            }
            if (column.flags.contains("-fPIC") && provider.flags.contains("-mnop-mcount")) {
                return Optional.of("the compiler refuses `-mnop-mcount` in code that is independent of its position");
            }
            if (column.flags.contains("-fsanitize") && provider.flags.contains("-fxray-instrument")) {
                return Optional.of("clang 14 cannot link XRay's runtime together with the sanitizer's");
            }
            if (column.is(Trait.RELIES_ON_CALLEE) && !makesCallersThatRely()) {
                return Optional.of("with these probes the compiler makes no such callers");
            }
            return Optional.empty();
        }

        private boolean refusesToOmitFramePointer() {
            return provider.flags.contains("-pg")
                    && (provider.compiler == Compiler.GCC || !provider.flags.contains("-mfentry"));
        }

        private boolean makesCallersThatRely() {
            return provider.compiler == Compiler.GCC && provider.flags.startsWith(PATCHABLE);
        }
    }

    private static final List<Provider> PROVIDERS = List.of(
            new Provider(Compiler.GCC, "-finstrument-functions", Seen.ENDS, true, ""),
            new Provider(Compiler.CLANG, "-finstrument-functions", Seen.RETURNS, true, ""),
            new Provider(Compiler.GCC, PATCHABLE + "5", Seen.RETURNS),
            new Provider(Compiler.GCC, PATCHABLE + "16,11", Seen.RETURNS),
            new Provider(Compiler.GCC, PATCHABLE + "7,5", Seen.RETURNS),
            new Provider(Compiler.CLANG, PATCHABLE + "5", Seen.RETURNS, false, "patchable-function-entry=5"),
            new Provider(Compiler.CLANG, PATCHABLE + "16,11", Seen.RETURNS, false, "patchable-function-entry=16,11"),
            new Provider(Compiler.GCC, "-pg -mfentry", Seen.RETURNS),
            new Provider(Compiler.GCC, "-pg -mfentry -mrecord-mcount", Seen.RETURNS),
            new Provider(Compiler.GCC, "-pg -mfentry -mrecord-mcount -mnop-mcount -fno-pic -no-pie", Seen.RETURNS),
            new Provider(Compiler.CLANG, "-pg -mfentry", Seen.RETURNS),
            new Provider(Compiler.GCC, "-pg", Seen.CALLS),
            new Provider(Compiler.CLANG, "-pg", Seen.CALLS, false, "instrument-mcount=y"),
            new Provider(
                    Compiler.CLANG,
                    "-fxray-instrument -fxray-instruction-threshold=1",
                    Seen.RETURNS,
                    false,
                    "instrument-xray=always"),
            new Provider(Compiler.GCC, NOTHING, Seen.RETURNS),
            new Provider(Compiler.CLANG, NOTHING, Seen.RETURNS));

    private static final List<Column> BEHAVIOURS = List.of(
            behaviour("recursion, 100,000 deep", "recursion.c"),
            behaviour("tail calls", "tails.c", Trait.LEAVES_FRAMES),
            behaviour("variable arguments", "varargs.c"),
            behaviour("arguments on the stack", "stack_arguments.c"),
            behaviour("results in rax and rdx, in xmm, on the x87 stack, in memory", "results.c"),
            build("arguments and results in ymm", "vectors.c", "-DWIDTH=32 -mavx"),
            build("arguments and results in zmm", "vectors.c", "-DWIDTH=64 -mavx512f"),
            behaviour("over-aligned stacks", "overaligned.c"),
            behaviour("red zones", "red_zone.c"),
            behaviour("alloca and arrays of variable length", "allocas.c"),
            behaviour("`longjmp` across 50 frames", "jumps.c", Trait.LEAVES_FRAMES),
            behaviour(
                    "C++ exceptions: rethrown, nested, from 10,000 frames below, across threads",
                    "exceptions.cc",
                    Trait.THROWS),
            behaviour("`std::terminate`", "terminate.cc", Trait.ENDS_WITH_LIVE_FRAMES, Trait.ABORTS),
            behaviour("thread cancellation", "cancellation.cc", Trait.LEAVES_FRAMES),
            behaviour("`pthread_exit` with live frames", "thread_exit.c", Trait.LEAVES_FRAMES),
            behaviour(
                    "coroutines (ucontext) that migrate between threads", "coroutines.c", Trait.ENDS_WITH_LIVE_FRAMES),
            behaviour(
                    "signal handlers that interrupt probes, on alternate stacks too, left by `siglongjmp`",
                    "signals.c",
                    Trait.ENDS_WITH_LIVE_FRAMES),
            build(
                    "callers that rely on registers which a callee leaves alone (`-fipa-ra`)",
                    "ipa_ra.c",
                    "-O3",
                    Trait.RELIES_ON_CALLEE),
            behaviour("function pointers, ifuncs, computed gotos", "pointers.c"),
            behaviour("threads", "threads.c"),
            build("`backtrace()`", "stacks.c", "-rdynamic"),
            behaviour("backtraces in gdb", "stacks.c", Trait.DEBUGGED),
            behaviour(
                    "functions that are inlined: only `-finstrument-functions` sees them, elsewhere they are part of"
                            + " their callers",
                    "inlined.c"));

    private static final List<Column> BUILDS = List.of(
            common("-O0"),
            common("-O1"),
            common("-O3"),
            common("-flto"),
            common("-fno-plt"),
            common("-no-pie", "-no-pie -fno-pic"),
            common("-fcf-protection=full"),
            common("-fno-omit-frame-pointer"),
            common("-fomit-frame-pointer"),
            build("-fsanitize=undefined", "exceptions.cc", "-fsanitize=undefined", Trait.THROWS),
            common("stripped", "-s", Trait.STRIPPED),
            common("shared library", "-DLIBRARY -fPIC -shared", Trait.LINKED_LIBRARY),
            common("dlopen, dlclose", "-DLIBRARY -fPIC -shared", Trait.OPENED_LIBRARY),
            behaviour("C++ symbols", "symbols.cc"),
            behaviour("Rust", "rust.rs", Trait.LEAVES_FRAMES));

    private static Column behaviour(String name, String source, Trait... traits) {
        return build(name, source, "", traits);
    }

    private static Column common(String flags) {
        return common(flags, flags);
    }

    private static Column common(String name, String flags, Trait... traits) {
        return new Column(
                name,
                "common.c",
                flags,
                Stream.concat(Stream.of(Trait.LEAVES_FRAMES), Stream.of(traits)).collect(Collectors.toSet()));
    }

    private static Column build(String name, String source, String flags, Trait... traits) {
        return new Column(name, source, flags, Set.of(traits));
    }

    /// Those that are not empty.
    static Stream<Cell> cells() {
        return Stream.concat(BEHAVIOURS.stream(), BUILDS.stream())
                .flatMap(column -> PROVIDERS.stream().map(provider -> new Cell(provider, column)))
                .filter(cell -> cell.reason().isEmpty());
    }

    static String markdown() {
        List<String> reasons = new ArrayList<>();
        List<String> numbers = IntStream.rangeClosed(1, BEHAVIOURS.size())
                .mapToObj(Integer::toString)
                .toList();
        StringBuilder text = new StringBuilder("""
                # Conformance

                What the probes of each compiler support. `ConformanceIT` runs each program with and without the agent
                (`--wait --exact`): output, messages and exit status are equal, and the report has as many calls of each
                function as the program itself counts.

                - ● calls and durations
                - ◐ the same, but no duration if an exception ends the call
                - ○ calls only
                - letter: there is no such program, for the reason below

                ## What programs do

                Built with `-O2` unless stated otherwise.

                """);
        rows(numbers, BEHAVIOURS, reasons, text);
        text.append('\n');
        for (int i = 0; i < BEHAVIOURS.size(); i++) {
            text.append(numbers.get(i))
                    .append(". ")
                    .append(BEHAVIOURS.get(i).name)
                    .append('\n');
        }
        text.append("""

                ## How they are built

                One program with recursion, tail calls, variable arguments, results of all classes, `longjmp`, `alloca`,
                function pointers and threads; for the sanitizer, one with exceptions.

                """);
        rows(BUILDS.stream().map(Column::name).toList(), BUILDS, reasons, text);
        text.append("\n## Empty cells\n\n");
        for (String reason : reasons) {
            text.append("- ")
                    .append(letter(reasons, reason))
                    .append(": ")
                    .append(reason)
                    .append('\n');
        }
        return text.toString();
    }

    private static void rows(List<String> headers, List<Column> columns, List<String> reasons, StringBuilder text) {
        text.append("| | ").append(String.join(" | ", headers)).append(" |\n");
        text.append("|---").append("|:-:".repeat(headers.size())).append("|\n");
        for (Provider provider : PROVIDERS) {
            text.append("| ")
                    .append(provider.compiler.c)
                    .append(provider.isBare() ? ", without an option |" : " `" + provider.flags + "` |");
            for (Column column : columns) {
                text.append(' ')
                        .append(mark(new Cell(provider, column), reasons))
                        .append(" |");
            }
            text.append('\n');
        }
    }

    private static String mark(Cell cell, List<String> reasons) {
        Optional<String> reason = cell.reason();
        if (reason.isEmpty()) {
            return cell.provider.seen.mark;
        }
        if (!reasons.contains(reason.get())) {
            reasons.add(reason.get());
        }
        return letter(reasons, reason.get());
    }

    private static String letter(List<String> reasons, String reason) {
        return Character.toString('a' + reasons.indexOf(reason));
    }
}
