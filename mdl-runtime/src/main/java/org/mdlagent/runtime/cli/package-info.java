/// The `mdl` command: runs programs under the agent and shows what was recorded, from outside the target process.
@NullMarked
package org.mdlagent.runtime.cli;

import org.jspecify.annotations.NullMarked;
