/// Errors of figures, and comparisons of runs.
@NullMarked
package org.mdlagent.profiler.report.statistics;

import org.jspecify.annotations.NullMarked;
