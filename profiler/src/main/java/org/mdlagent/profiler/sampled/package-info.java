/// The sampled profiler: which functions' probes are on and for how long, and the estimates from the observed
/// calls.
@NullMarked
package org.mdlagent.profiler.sampled;

import org.jspecify.annotations.NullMarked;
