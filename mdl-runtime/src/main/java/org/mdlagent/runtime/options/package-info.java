/// The options of the agent, in `MDL_OPTIONS` and as the command line passes them on.
@NullMarked
package org.mdlagent.runtime.options;

import org.jspecify.annotations.NullMarked;
