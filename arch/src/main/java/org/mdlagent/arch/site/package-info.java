/// A place where a probe can be, and what the code of a probe is made of, whatever the instruction set.
@NullMarked
package org.mdlagent.arch.site;

import org.jspecify.annotations.NullMarked;
