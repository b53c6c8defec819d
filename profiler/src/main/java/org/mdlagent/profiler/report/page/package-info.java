/// The report as a page for browsers.
@NullMarked
package org.mdlagent.profiler.report.page;

import org.jspecify.annotations.NullMarked;
