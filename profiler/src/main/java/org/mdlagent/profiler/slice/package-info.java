/// Writes time slices of a session to its file: the reader is in `org.mdlagent.profiler.report.slice`.
@NullMarked
package org.mdlagent.profiler.slice;

import org.jspecify.annotations.NullMarked;
