package org.mdlagent.arch.elf;

/// A dynamic relocation (gABI chapter 4, "Relocation").
///
/// @param address virtual address, at link time, of the word to relocate
/// @param type as [Machine] numbers them
/// @param symbol name of the symbol, "" for none
/// @param addend constant to add
public record Relocation(long address, int type, String symbol, long addend) {}
