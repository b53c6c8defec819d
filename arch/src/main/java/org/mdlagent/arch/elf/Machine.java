package org.mdlagent.arch.elf;

import org.jspecify.annotations.Nullable;

/// An instruction set and the constants of its psABI supplement.
public enum Machine {
    /// System V ABI, AMD64 supplement: table 4.9 (relocation types), figure 3.36 (DWARF registers).
    X86_64(62, 7, 6, 1, 8, 7);

    private final int number;
    private final int jumpSlot;
    private final int globalData;
    private final int absoluteWord;
    private final int relativeWord;
    private final int stackPointer;

    Machine(int number, int jumpSlot, int globalData, int absoluteWord, int relativeWord, int stackPointer) {
        this.number = number;
        this.jumpSlot = jumpSlot;
        this.globalData = globalData;
        this.absoluteWord = absoluteWord;
        this.relativeWord = relativeWord;
        this.stackPointer = stackPointer;
    }

    /// Relocation of a GOT slot that a procedure linkage table entry jumps through.
    public int jumpSlot() {
        return jumpSlot;
    }

    /// Relocation of a GOT slot that code loads an address from.
    public int globalData() {
        return globalData;
    }

    /// Relocation of a word that holds a symbol's address plus an addend.
    public int absoluteWord() {
        return absoluteWord;
    }

    /// Relocation of a word that holds the image's load bias plus an addend.
    public int relativeWord() {
        return relativeWord;
    }

    /// Number of the stack pointer in DWARF's register file, as in [CfaRule.RegisterOffset].
    public int stackPointer() {
        return stackPointer;
    }

    /// Whether a relocation stores the symbol's own address in a whole word.
    boolean storesAddress(int type) {
        return type == jumpSlot || type == globalData || type == absoluteWord;
    }

    public static @Nullable Machine of(int number) {
        return number == X86_64.number ? X86_64 : null;
    }
}
