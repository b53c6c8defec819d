/// Measures function latency, of every call or of samples.
///
/// The agent drives a [org.mdlagent.profiler.Collector], which writes to the session. The packages `report` read
/// the session in another process: they use nothing that runs in the program, and the agent uses none of them. A
/// package depends only on packages below it:
///
/// | package | |
/// | --- | --- |
/// | `sampled` | the sampled profiler |
/// | `slice` | writes slices of a session's time |
/// | `profiler` | the collector interface, and the exact collector |
/// | `cpu` | samples of the threads' CPU time |
/// | `records` | timed calls in the threads' rings, and who made them |
/// | `tier` | which calls are timed |
/// | `policy` | when the probes of sliced functions are on |
/// | `report.live` | a program while it runs |
/// | `report.page`, `report.exposition` | pages for browsers, series for monitoring systems |
/// | `report.format` | text, and files of other tools |
/// | `report.session` | reads a session |
/// | `report.slice` | reads slices of a session's time |
/// | `report.statistics` | errors of figures, comparison of runs |
/// | `report.profile` | the data model of reports |
/// | `report.file`, `report.codec` | the bytes of sessions and of stored records |
/// | `figures`, `text` | what agent and reports share |
@NullMarked
package org.mdlagent.profiler;

import org.jspecify.annotations.NullMarked;
