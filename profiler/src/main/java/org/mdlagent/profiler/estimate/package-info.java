/// Properties of recorded figures: the error of estimates and the cost of probes.
@NullMarked
package org.mdlagent.profiler.estimate;

import org.jspecify.annotations.NullMarked;
