/// The data model of reports: functions, their latency, the call graph, runs.
@NullMarked
package org.mdlagent.profiler.report.profile;

import org.jspecify.annotations.NullMarked;
