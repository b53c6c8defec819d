/// The list of benchmarks and their measurements.
///
/// `Bench` starts each measurement by its name, in a process of its own. Of the packages, `tools` is below
/// `report`, and both are below `patching`, `probes`, `programs` and `metrics`; `metrics` uses what `probes` has
/// made.
@NullMarked
package org.mdlagent.bench;

import org.jspecify.annotations.NullMarked;
