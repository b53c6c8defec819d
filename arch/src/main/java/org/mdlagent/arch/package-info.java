/// What the machine offers: memory, code memory, instruction bytes, images, CPU and synchronisation of cores.
///
/// Its packages depend on those below them alone:
///
/// | package | |
/// | --- | --- |
/// | `arch` | chooses the host's instruction set |
/// | `x86.patch` | instruction bytes as they are patched |
/// | `x86.emit` | trampolines and snippets as they are emitted |
/// | `x86.find` | sites, calls and linkage words as they are found |
/// | `x86.bytes` | encodings, the assembler, the decoder |
/// | `snippet` | snippets and what makes them cheaper |
/// | `session` | views of the session's records |
/// | `site` | patch sites, what is asked about them, what they lead to |
/// | `code` | code memory, plans of stores, traps |
/// | `cpu` | synchronisation of cores |
/// | `shim` | the shim's functions, memory by address |
/// | `layout` | offsets in structures that C and Java share |
///
/// `elf` reads images, `file` opens files by their descriptors; they depend on none of these.
@NullMarked
package org.mdlagent.arch;

import org.jspecify.annotations.NullMarked;
