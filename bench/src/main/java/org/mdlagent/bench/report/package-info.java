/// Tables, plots and raw figures of benchmarks.
@NullMarked
package org.mdlagent.bench.report;

import org.jspecify.annotations.NullMarked;
