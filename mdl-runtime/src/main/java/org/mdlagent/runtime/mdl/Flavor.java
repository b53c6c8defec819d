package org.mdlagent.runtime.mdl;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// A kind of program that metrics and lists may be for, recognised by a program's functions.
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

    /// Patterns: a program of this flavor has or calls a matching function. Empty: every program.
    public List<String> functions() {
        return functions;
    }

    /// The flavor with a name; empty for a flavor that no program here can have.
    public static Optional<Flavor> of(String word) {
        return Arrays.stream(values())
                .filter(flavor -> flavor.word.equals(word))
                .findFirst();
    }
}
