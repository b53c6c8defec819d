/// Copies of whole functions, with a counter in each basic block.
@NullMarked
package org.mdlagent.arch.x86.copy;

import org.jspecify.annotations.NullMarked;
