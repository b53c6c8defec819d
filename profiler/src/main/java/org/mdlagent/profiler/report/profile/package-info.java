/// What a program did, as a report knows it: functions, their latency, who called whom, runs.
@NullMarked
package org.mdlagent.profiler.report.profile;

import org.jspecify.annotations.NullMarked;
