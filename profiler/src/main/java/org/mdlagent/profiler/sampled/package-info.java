/// The sampled profiler: which functions' probes are on, for how long, and what is inferred from the calls that are
/// seen.
@NullMarked
package org.mdlagent.profiler.sampled;

import org.jspecify.annotations.NullMarked;
