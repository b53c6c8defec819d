/// The data model of reports: functions, their latency, the call graph, runs.
///
/// Long because a profile is made of these records, and each format of a report reads most of them.
@NullMarked
package org.mdlagent.profiler.report.profile;

import org.jspecify.annotations.NullMarked;
