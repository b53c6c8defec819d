/// Reads session files, live or finished, and renders what they hold: the only place that interprets them outside the
/// agent.
@NullMarked
package org.mdlagent.profiler.report;

import org.jspecify.annotations.NullMarked;
