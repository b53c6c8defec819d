/// Timed calls in the threads' rings: their weights, and the call graph that they are moved to.
@NullMarked
package org.mdlagent.profiler.records;

import org.jspecify.annotations.NullMarked;
