package org.mdlagent.runtime.mdl;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// A kind of program that metrics and lists may be for. Which ones a program is, its functions say.
public enum Flavor {
    /// Every program here.
    UNIX("unix", List.of()),
    PVM("pvm", List.of("pvm_*")),
    MPI("mpi", List.of("MPI_*", "PMPI_*"));

    private final String word;
    private final List<String> functions;

    Flavor(String word, List<String> functions) {
        this.word = word;
        this.functions = functions;
    }

    public String word() {
        return word;
    }

    /// Patterns: a program of this flavor has or calls a function that one of them means. Empty: every program is.
    public List<String> functions() {
        return functions;
    }

    /// The flavor of a name, empty for one that no program here is of.
    public static Optional<Flavor> of(String word) {
        return Arrays.stream(values())
                .filter(flavor -> flavor.word.equals(word))
                .findFirst();
    }
}
