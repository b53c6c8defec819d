/// What runs in the target process beside the shim: the agent's start, its options, and its epochs.
@NullMarked
package org.mdlagent.runtime;

import org.jspecify.annotations.NullMarked;
