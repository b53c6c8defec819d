/// Timed calls that the threads' rings hold: for how many each stands, and the histograms and the call graph that they
/// are moved into.
@NullMarked
package org.mdlagent.profiler.records;

import org.jspecify.annotations.NullMarked;
