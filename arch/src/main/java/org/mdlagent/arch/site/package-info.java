/// Places of probes, and the parts of a probe's code, independent of the instruction set.
@NullMarked
package org.mdlagent.arch.site;

import org.jspecify.annotations.NullMarked;
