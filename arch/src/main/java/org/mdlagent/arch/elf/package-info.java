/// Reads what an ELF file says about its code: symbols, relocations, unwind rules and source lines.
@NullMarked
package org.mdlagent.arch.elf;

import org.jspecify.annotations.NullMarked;
