/// What the C shim does for Java: its functions, raw memory, mappings, threads, the events that the kernel counts.
@NullMarked
package org.mdlagent.arch.shim;

import org.jspecify.annotations.NullMarked;
