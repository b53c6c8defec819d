/// The agent in the target process, and the command line beside it.
///
/// Each package depends only on those below it. `cli`, `serve`, `store` and [org.mdlagent.client] are never loaded
/// into the target process, and `agent` nowhere else:
///
/// | package | |
/// | --- | --- |
/// | `agent`, `cli` | the agent; the command `mdl` |
/// | `serve`, `store` | the server of live sessions, the profiles of runs |
/// | `metric` | metrics in the program |
/// | `mdl.request` | requests of metrics to a program |
/// | `mdl` | semantics of definitions |
/// | `mdl.syntax` | their text |
/// | `options` | of the agent |
@NullMarked
package org.mdlagent.runtime;

import org.jspecify.annotations.NullMarked;
