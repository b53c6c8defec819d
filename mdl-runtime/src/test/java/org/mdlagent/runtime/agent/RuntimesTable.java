package org.mdlagent.runtime.agent;

import java.util.List;
import java.util.stream.Collectors;

/// The runtimes of languages that [RuntimesIT] runs, as Debian ships them, and what their functions can have.
///
/// @param name      of the language, or of a program in it
/// @param tools     without which it is not run: a command, or an absolute path
/// @param prepare   what is run before, in a directory of its own: a shell command; empty for nothing. `$SOURCES` has
///     the programs
/// @param command   of the shell; `$BUILT` is the directory of `prepare`, and `$RUN` stands before what gets the agent,
///     if that is not the first word
/// @param libraries that do the work, as `--include` takes them
/// @param own       what functions of the program's own image have
/// @param reason    of that
record RuntimesTable(
        String name,
        List<String> tools,
        String prepare,
        String command,
        List<String> libraries,
        Use own,
        String reason) {

    /// What functions have.
    enum Use {
        CALLS("whole calls"),
        COUNTS("counts");

        private final String words;

        Use(String words) {
            this.words = words;
        }
    }

    private static final String C = "the interpreter is in C; what it interprets has no functions";
    private static final String COLLECTED = C + ". A collector looks for objects on stacks and in registers";
    private static final String OCAML =
            "OCaml's collector looks up return addresses in its frame table: between its functions nothing can stand";
    private static final String HASKELL =
            "Haskell's functions are on a stack of their own, and no unwind table describes them: they have no probes."
                    + " Those of the runtime, in C, are called as others";

    @Override
    public String toString() {
        return name;
    }

    static List<RuntimesTable> all() {
        return List.of(
                of(
                        "PHP",
                        "php",
                        "",
                        "php $SOURCES/fibers.php",
                        "libsodium,libpcre2",
                        Use.CALLS,
                        C + ". Fibers have stacks of their own"),
                of("Ruby", "ruby", "", "ruby $SOURCES/fibers.rb", "libruby", Use.CALLS, COLLECTED),
                of("Emacs Lisp", "emacs", "", "emacs -Q --batch -l $SOURCES/conses.el", "libgmp", Use.CALLS, COLLECTED),
                of(
                        "Guile",
                        "guile",
                        "sed s/ROUNDS/40/ $SOURCES/continuations.scm >program.scm",
                        "guile --no-auto-compile -s $BUILT/program.scm",
                        "libguile,libgc",
                        Use.CALLS,
                        "the virtual machine and Boehm's collector are in C; code made at run time has no probes"),
                of(
                        "LuaJIT",
                        "luajit",
                        "",
                        "luajit $SOURCES/errors.lua",
                        "libluajit",
                        Use.CALLS,
                        "errors are thrown through frames by the unwinder; code made at run time has no probes"),
                of(
                        "OCaml",
                        "ocamlopt",
                        "cp $SOURCES/trees.ml . && ocamlopt -w -a -o program trees.ml",
                        "$BUILT/program",
                        "libm",
                        Use.COUNTS,
                        OCAML),
                of("OCaml: unison", "unison", "", "unison -version", "libm", Use.COUNTS, "as OCaml"),
                of(
                        "OCaml: hevea",
                        "hevea",
                        "",
                        "cp $SOURCES/text.tex . && $RUN hevea -o text.html text.tex && cat text.html",
                        "libm",
                        Use.COUNTS,
                        "as OCaml"),
                of(
                        "OCaml: ocamlopt.opt",
                        "ocamlopt.opt",
                        "",
                        "cp $SOURCES/trees.ml . && $RUN ocamlopt.opt -w -a -c trees.ml && od -c trees.o",
                        "libm",
                        Use.COUNTS,
                        "as OCaml"),
                of(
                        "Haskell",
                        "ghc",
                        "cp $SOURCES/trees.hs . && ghc -v0 -O -threaded -o program trees.hs",
                        "$BUILT/program",
                        "libgmp,libffi",
                        Use.CALLS,
                        HASKELL),
                of(
                        "Haskell: pandoc",
                        "pandoc",
                        "",
                        "pandoc -f latex -t html $SOURCES/text.tex",
                        "libgmp,liblua",
                        Use.CALLS,
                        "as Haskell"),
                of(
                        "Haskell: shellcheck",
                        "shellcheck",
                        "",
                        "shellcheck -s bash $SOURCES/../programs/redis.sh",
                        "libgmp",
                        Use.CALLS,
                        "as Haskell"),
                of(
                        "Erlang",
                        "escript",
                        "",
                        "escript $SOURCES/processes.escript",
                        "libz",
                        Use.CALLS,
                        "functions in Erlang are made at run time and have no probes; those in C run on the thread's stack"),
                of(
                        "Common Lisp (SBCL)",
                        "sbcl",
                        "",
                        "sbcl --script $SOURCES/conditions.lisp",
                        "libzstd,libm",
                        Use.CALLS,
                        "functions in Lisp are in a heap and have no probes; those in C are called as others"),
                of(
                        "Scheme (csi)",
                        "csi",
                        "sed s/ROUNDS/40/ $SOURCES/continuations.scm >program.scm",
                        "csi -s $BUILT/program.scm",
                        "libchicken",
                        Use.CALLS,
                        "compiled by way of C; its functions never return, so their calls have no durations"),
                of(
                        "Scheme (csc)",
                        "csc",
                        "sed s/ROUNDS/40/ $SOURCES/continuations.scm >program.scm && csc -O2 -o program program.scm",
                        "$BUILT/program",
                        "libchicken",
                        Use.CALLS,
                        "as csi"),
                of(
                        "Ada (GNAT)",
                        "gnatmake",
                        "gnatmake -q -O2 $SOURCES/finalized.adb -o program",
                        "$BUILT/program",
                        "libgnat,libgnarl",
                        Use.CALLS,
                        "compiled as C++ is, with personality routines of its own"),
                of(
                        "D (gdc)",
                        "gdc",
                        "gdc -O2 -o program $SOURCES/thrown.d",
                        "$BUILT/program",
                        "libgphobos,libgdruntime",
                        Use.CALLS,
                        "compiled as C++ is. A collector looks for objects on stacks and in registers"),
                of(
                        "C# (Mono)",
                        "mcs",
                        "mcs -out:program.exe $SOURCES/threads.cs",
                        "mono $BUILT/program.exe",
                        "libm",
                        Use.CALLS,
                        "functions in C# are made at run time and have no probes; those of the runtime are in C"),
                of(
                        "JavaScript (node)",
                        "node",
                        "",
                        "node $SOURCES/collected.js",
                        "libnode,libstdc++",
                        Use.CALLS,
                        "V8 is in C++, and finds return addresses where they were; code made at run time has no probes"),
                of("Python", "python3", "", "/usr/bin/python3 $SOURCES/objects.py", "libexpat,libffi", Use.CALLS, C),
                of("Perl", "perl", "", "perl $SOURCES/closures.pl", "libcrypt", Use.CALLS, C),
                of(
                        "R",
                        "/usr/lib/R/bin/exec/R",
                        "",
                        "env R_HOME=/usr/lib/R LD_LIBRARY_PATH=/usr/lib/R/lib /usr/lib/R/bin/exec/R --no-echo --vanilla -f $SOURCES/vectors.R",
                        "libR,libblas",
                        Use.CALLS,
                        C + ". Errors are longjmps"),
                of(
                        "Octave",
                        "octave-cli",
                        "",
                        "octave-cli --norc --no-history $SOURCES/matrices.m",
                        "liboctave,liboctinterp",
                        Use.CALLS,
                        "the interpreter is in C++, and throws"),
                of("Prolog (SWI)", "swipl", "", "swipl $SOURCES/backtracking.prolog", "libswipl,libgmp", Use.CALLS, C),
                of(
                        "Forth (gforth)",
                        "gforth",
                        "",
                        "gforth $SOURCES/words.fs",
                        "libltdl",
                        Use.CALLS,
                        "the engine is one function, which is called once"));
    }

    private static RuntimesTable of(
            String name, String tool, String prepare, String command, String libraries, Use use, String reason) {
        return new RuntimesTable(name, List.of(tool), prepare, command, List.of(libraries.split(",")), use, reason);
    }

    static String markdown() {
        String rows = all().stream()
                .map(each -> "| %s | %s | %s |\n".formatted(each.name, each.own.words, each.reason))
                .collect(Collectors.joining());
        return """
                # Runtimes of languages

                What is measured in programs in other languages than C, C++ and Rust, and in interpreters. **Whole calls** are
                counted and timed. **Counts** have no durations and callers: the runtime looks up return addresses in a table of
                its own, so no probe may leave anything on the stack. `mdl doctor PROGRAM` says which it is, and why.

                `RuntimesIT` runs these programs as Debian ships them: with plain `LD_PRELOAD`, with `--exact`, and exact with
                their libraries named. Output and exit status are as without the agent. Go has [its own page](patching.md#programs-in-go).

                | runtime | its functions have | why |
                | --- | --- | --- |
                """ + rows + """

                ## How a runtime is recognised

                By marks in its file that stripping leaves (`KeyedRuntime`):

                | runtime | sign | its functions |
                | --- | --- | --- |
                | OCaml up to 4.14 | the symbol `caml_frametable` | are counted |
                | OCaml 5 | the same, and a function that enlarges the stack | are left alone: their stacks have no room for a probe |
                | GraalVM's native images, .NET's native code, LLVM's stack maps | a section (`.svm_heap`, `__managedcode`, `.llvm_stackmaps`) | are counted |
                | any other | at least 64 data words hold the address behind a call, and these are at least an eighth of the code addresses in data. Adjacent code addresses do not count | are left alone |
                """;
    }
}
