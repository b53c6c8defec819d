/// Places of probes, and the parts of a probe's code, independent of the instruction set.
///
/// Long because it has a type for each result of an instruction set; the searches themselves are in `arch.x86`.
@NullMarked
package org.mdlagent.arch.site;

import org.jspecify.annotations.NullMarked;
