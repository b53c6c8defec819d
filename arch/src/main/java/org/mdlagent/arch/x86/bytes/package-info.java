/// Instruction bytes: registers, conditions, the assembler, the decoder.
@NullMarked
package org.mdlagent.arch.x86.bytes;

import org.jspecify.annotations.NullMarked;
