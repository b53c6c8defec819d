/// Time slices of a session: the agent writes them to the session file, reports read them.
@NullMarked
package org.mdlagent.profiler.slice;

import org.jspecify.annotations.NullMarked;
