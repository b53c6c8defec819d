/// Starts a program with the agent, and checks whether that is possible: `mdl run`, `mdl doctor`.
@NullMarked
package org.mdlagent.runtime.cli.run;

import org.jspecify.annotations.NullMarked;
