/// Reads a session's time slices: the writer is in `org.mdlagent.profiler.slice`.
@NullMarked
package org.mdlagent.profiler.report.slice;

import org.jspecify.annotations.NullMarked;
