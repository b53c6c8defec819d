/// Which calls of a function are timed: all, some by chance, or those in slices; and the allowance of
/// threads.
@NullMarked
package org.mdlagent.profiler.tier;

import org.jspecify.annotations.NullMarked;
