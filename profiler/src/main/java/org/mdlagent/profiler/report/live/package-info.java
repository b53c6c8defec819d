/// A running program: what has changed since the last look.
@NullMarked
package org.mdlagent.profiler.report.live;

import org.jspecify.annotations.NullMarked;
