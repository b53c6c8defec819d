/// Starting a program with the agent, and whether that can be done: `mdl run`, `mdl collect`, `mdl attach`, `mdl
/// doctor`.
///
/// Long because these commands share how a program is examined, started and reported.
@NullMarked
package org.mdlagent.runtime.cli.run;

import org.jspecify.annotations.NullMarked;
