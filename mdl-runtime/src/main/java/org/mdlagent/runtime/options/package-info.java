/// The agent's options, in `MDL_OPTIONS` and as passed by the command line.
@NullMarked
package org.mdlagent.runtime.options;

import org.jspecify.annotations.NullMarked;
