/// The `mdl` command: runs programs under the agent and shows what was recorded, from outside the target process.
///
/// In layers, of which each knows those below it only; the packages of one line do not know each other:
///
/// | layer | what |
/// | --- | --- |
/// | `cli` | `Mdl`: the commands there are, and what becomes of their failures |
/// | `compare` | the command that runs programs several times |
/// | `run`, `live` | commands that start programs or follow them |
/// | `control`, `manual`, `report` | commands that ask a running agent, say what commands there are, or show what was
/// recorded |
/// | `names` | names of functions that were stripped |
/// | `context` | what every command is given |
/// | `session` | sessions of this machine, and their agents |
/// | `terminal` | the user's terminal, the process around the command |
@NullMarked
package org.mdlagent.runtime.cli;

import org.jspecify.annotations.NullMarked;
