/// The formats of a report in text and in files of other tools.
@NullMarked
package org.mdlagent.profiler.report.format;

import org.jspecify.annotations.NullMarked;
