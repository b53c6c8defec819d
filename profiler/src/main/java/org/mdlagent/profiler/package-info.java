/// What to measure: how long functions take, of every call or of samples.
///
/// The agent drives a [org.mdlagent.profiler.Collector]; reports read what it has left in the session. Packages depend
/// on those below them alone:
///
/// | package | |
/// | --- | --- |
/// | `report.live` | a program while it runs |
/// | `report.page`, `report.exposition` | pages for browsers, series for monitoring systems |
/// | `report.format` | text, and files of other tools |
/// | `report.session` | reads a session |
/// | `slice` | slices of a session's time, written and read |
/// | `report.statistics` | how far figures can be trusted |
/// | `report.profile` | what a report knows of a program |
/// | `report.file`, `report.codec` | the bytes of sessions and of stored records |
/// | `sampled` | the sampled profiler |
/// | `records` | timed calls in the threads' rings |
/// | `profiler` | what a collector is, and that of every call |
/// | `tier` | which calls are timed |
/// | `policy` | when the probes of sliced functions are on |
/// | `estimate` | what recorded figures stand for |
@NullMarked
package org.mdlagent.profiler;

import org.jspecify.annotations.NullMarked;
