/// The `mdl` command: runs programs under the agent and shows what was recorded, from outside the target
/// process.
///
/// Packages are layered: each depends only on layers below it, and packages of one layer do not depend on
/// each other:
///
/// | layer | what |
/// | --- | --- |
/// | `cli` | `Mdl`: the list of commands, and the handling of failures |
/// | `compare` | the command that runs programs several times |
/// | `run`, `live` | commands that start programs or follow them |
/// | `control`, `manual`, `report` | commands that ask a running agent, say what commands there are, or show what was
/// recorded |
/// | `names` | names of functions in stripped images |
/// | `context` | the context of every command |
/// | `session` | sessions of this machine, and their agents |
/// | `terminal` | the user's terminal, the process around the command |
@NullMarked
package org.mdlagent.runtime.cli;

import org.jspecify.annotations.NullMarked;
