/// The decisions of the sampled profiler as pure functions, without access to memory, clock or randomness, so
/// that they can be tested by simulation.
@NullMarked
package org.mdlagent.profiler.policy;

import org.jspecify.annotations.NullMarked;
