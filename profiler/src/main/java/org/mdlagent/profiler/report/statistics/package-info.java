/// How far a figure can be trusted, and whether two runs differ.
@NullMarked
package org.mdlagent.profiler.report.statistics;

import org.jspecify.annotations.NullMarked;
