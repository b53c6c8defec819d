/// What recorded figures stand for: how far an estimate may be off, and what probes have cost.
@NullMarked
package org.mdlagent.profiler.estimate;

import org.jspecify.annotations.NullMarked;
