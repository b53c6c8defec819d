/// A place where a probe can be, and what the code of a probe is made of, whatever the instruction set.
///
/// Long because it has a type for each answer that an instruction set gives; the searches themselves are in `arch.x86`.
@NullMarked
package org.mdlagent.arch.site;

import org.jspecify.annotations.NullMarked;
