/// Starting a program with the agent, and whether that can be done: `mdl run`, `mdl collect`, `mdl attach`, `mdl
/// doctor`.
@NullMarked
package org.mdlagent.runtime.cli.run;

import org.jspecify.annotations.NullMarked;
