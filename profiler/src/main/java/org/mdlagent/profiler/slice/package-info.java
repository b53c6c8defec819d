/// Slices of a session's time: the agent writes them into the session, reports read them.
@NullMarked
package org.mdlagent.profiler.slice;

import org.jspecify.annotations.NullMarked;
