/// What agent and reports both know of recorded figures: what a session holds, the error of estimates and the cost
/// of probes.
@NullMarked
package org.mdlagent.profiler.figures;

import org.jspecify.annotations.NullMarked;
