/// Services of the machine: memory, code memory, instruction bytes, images, CPU and synchronisation of cores.
///
/// Each package depends only on those below it:
///
/// | package | |
/// | --- | --- |
/// | `arch` | chooses the host's instruction set |
/// | `x86.patch` | patching of instruction bytes |
/// | `x86.copy` | copies of whole functions, with counters |
/// | `x86.emit` | generation of trampolines and snippets |
/// | `x86.find` | search for sites, calls and linkage words |
/// | `x86.bytes` | encodings, the assembler, the decoder |
/// | `snippet` | snippets and their optimisation |
/// | `session` | views of the session's records |
/// | `site` | patch sites, queries about them, their stubs |
/// | `code` | code memory, plans of stores, traps |
/// | `cpu` | synchronisation of cores |
/// | `shim` | the shim's functions, memory by address |
/// | `layout` | offsets in structures that C and Java share |
///
/// `elf` reads images and `file` opens files by descriptor; they depend on none of these.
@NullMarked
package org.mdlagent.arch;

import org.jspecify.annotations.NullMarked;
