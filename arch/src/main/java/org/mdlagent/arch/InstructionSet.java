package org.mdlagent.arch;

import org.mdlagent.arch.code.CodeRelocation;
import org.mdlagent.arch.code.FunctionCopying;
import org.mdlagent.arch.cpu.Cpu;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.PatchSites;
import org.mdlagent.arch.site.StubCode;
import org.mdlagent.arch.snippet.SnippetCompiler;
import org.mdlagent.arch.x86.copy.FunctionCopier;
import org.mdlagent.arch.x86.emit.X86SnippetCompiler;
import org.mdlagent.arch.x86.emit.X86StubCode;
import org.mdlagent.arch.x86.find.X86CodeSearch;
import org.mdlagent.arch.x86.patch.X86CodeRelocation;
import org.mdlagent.arch.x86.patch.X86EntryPuns;
import org.mdlagent.arch.x86.patch.X86PatchSites;

/// The services of an instruction set, grouped by their users. The only place that chooses one; no code outside
/// this package's children names an instruction set.
///
/// The Java memory model does not cover instruction fetch. Patch protocols may rely on two rules only:
///
/// - Another core fetches a store of up to eight bytes inside one naturally aligned [#atomicUnit]
/// wholly or not at
///   all. Units of 8 bytes are architectural (AMD64 Architecture Programmer's Manual, volume 2, section
/// 7.6.1). Units
///   of 64 bytes, on Intel, are empirical ("Living on the Edge", PLDI 2016, section 3).
/// - After a serializing instruction, a core fetches all earlier stores to code.
///
/// @param atomicUnit bytes within which a store to code is atomic for instruction fetch; a power of
///     two, at least
///     8
/// @param search     searches a program's code for sites, calls and linkage
/// @param sites      patches sites
/// @param puns       probes functions without compiler support
/// @param stubs      generates trampolines
/// @param snippets   compiles snippets
/// @param relocation replaces instructions that other threads execute
/// @param copying    copies whole functions
public record InstructionSet(
        int atomicUnit,
        CodeSearch search,
        PatchSites sites,
        EntryPuns puns,
        StubCode stubs,
        SnippetCompiler snippets,
        CodeRelocation relocation,
        FunctionCopying copying) {
    /// The instruction set of this machine.
    public static InstructionSet host() {
        return ofAtomicUnit(Cpu.atomicUnit());
    }

    /// The instruction set of this machine with another atomic unit, so that tests cover both kinds of
    /// processor.
    public static InstructionSet ofAtomicUnit(int atomicUnit) {
        return new InstructionSet(
                atomicUnit,
                new X86CodeSearch(),
                new X86PatchSites(atomicUnit),
                new X86EntryPuns(atomicUnit),
                new X86StubCode(),
                new X86SnippetCompiler(),
                new X86CodeRelocation(),
                new FunctionCopier());
    }
}
