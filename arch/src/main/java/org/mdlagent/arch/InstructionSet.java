package org.mdlagent.arch;

import org.mdlagent.arch.code.CodeRelocation;
import org.mdlagent.arch.cpu.Cpu;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.PatchSites;
import org.mdlagent.arch.site.StubCode;
import org.mdlagent.arch.snippet.SnippetCompiler;
import org.mdlagent.arch.x86.emit.X86SnippetCompiler;
import org.mdlagent.arch.x86.emit.X86StubCode;
import org.mdlagent.arch.x86.find.X86CodeSearch;
import org.mdlagent.arch.x86.patch.X86CodeRelocation;
import org.mdlagent.arch.x86.patch.X86EntryPuns;
import org.mdlagent.arch.x86.patch.X86PatchSites;

/// What the layers above ask of an instruction set, by who asks. Here alone one is chosen; no code outside this
/// package's children names it.
///
/// The Java memory model says nothing of instruction fetch. What holds here, and all that patch protocols may rely
/// on: a store of up to eight bytes inside one naturally aligned [#atomicUnit] is fetched by another core wholly or
/// not at all (AMD64 Architecture Programmer's Manual, volume 2, section 7.6.1: architectural for 8; for 64, on
/// Intel, empirical, see "Living on the Edge", PLDI 2016, section 3), and a core that has serialised fetches what was
/// stored before.
///
/// @param atomicUnit bytes within which a store to code is atomic for instruction fetch; a power of two, at least 8
/// @param search     for those who look for sites, calls and linkage in a program's code
/// @param sites      for those who patch sites
/// @param puns       for those who probe functions that no compiler has prepared
/// @param stubs      for those who lay out trampolines
/// @param snippets   for those who compile snippets
/// @param relocation for those who replace instructions that other threads execute
public record InstructionSet(
        int atomicUnit,
        CodeSearch search,
        PatchSites sites,
        EntryPuns puns,
        StubCode stubs,
        SnippetCompiler snippets,
        CodeRelocation relocation) {
    /// The instruction set of this machine.
    public static InstructionSet host() {
        return ofAtomicUnit(Cpu.atomicUnit());
    }

    /// The instruction set of this machine as if stores to code were atomic for fetch within `atomicUnit` bytes, so
    /// that tests see the rules for both kinds of processor.
    public static InstructionSet ofAtomicUnit(int atomicUnit) {
        return new InstructionSet(
                atomicUnit,
                new X86CodeSearch(),
                new X86PatchSites(atomicUnit),
                new X86EntryPuns(atomicUnit),
                new X86StubCode(),
                new X86SnippetCompiler(),
                new X86CodeRelocation());
    }
}
