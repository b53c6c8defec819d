/// Measures function latency, of every call or of samples.
///
/// The agent drives a [org.mdlagent.profiler.Collector], which writes to the session; reports read the
/// session. A package depends only on packages below it:
///
/// | package | |
/// | --- | --- |
/// | `report.live` | a program while it runs |
/// | `report.page`, `report.exposition` | pages for browsers, series for monitoring systems |
/// | `report.format` | text, and files of other tools |
/// | `report.session` | reads a session |
/// | `slice` | slices of a session's time, written and read |
/// | `report.statistics` | errors of figures, comparison of runs |
/// | `report.profile` | the data model of reports |
/// | `report.file`, `report.codec` | the bytes of sessions and of stored records |
/// | `sampled` | the sampled profiler |
/// | `profiler` | the collector interface, and the exact collector |
/// | `records` | timed calls in the threads' rings, and who made them |
/// | `tier` | which calls are timed |
/// | `policy` | when the probes of sliced functions are on |
/// | `estimate` | errors of estimates, cost of probes |
@NullMarked
package org.mdlagent.profiler;

import org.jspecify.annotations.NullMarked;
