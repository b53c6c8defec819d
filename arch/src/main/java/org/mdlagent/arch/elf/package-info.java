/// Reads what an ELF file says about its code: symbols, relocations, unwind rules and source lines.
///
/// Long because it is one subject with one entry point ([org.mdlagent.arch.elf.ElfFile]): most files are private
/// to it, one for each table of the format.
@NullMarked
package org.mdlagent.arch.elf;

import org.jspecify.annotations.NullMarked;
