/// Which calls of a function are timed: all, one of some by chance, or what slices see; and what a thread may spend.
@NullMarked
package org.mdlagent.profiler.tier;

import org.jspecify.annotations.NullMarked;
