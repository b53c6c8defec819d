/// Decisions of the sampled profiler, without access to memory, clock or randomness: what is given in, and a
/// plan out. So they are tested by simulation.
@NullMarked
package org.mdlagent.profiler.policy;

import org.jspecify.annotations.NullMarked;
