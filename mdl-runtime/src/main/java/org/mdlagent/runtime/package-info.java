/// The agent in the target process, beside the shim: its start, options and epochs.
///
/// Each package depends only on those below it. `cli`, `serve`, `store` and [org.mdlagent.client] are never loaded
/// into the target process:
///
/// | package | |
/// | --- | --- |
/// | `cli` | the command `mdl` |
/// | `runtime` | the agent |
/// | `serve`, `store` | the server of live sessions, the profiles of runs |
/// | `metric` | metrics in the program |
/// | `mdl.request` | requests of metrics to a program |
/// | `mdl` | semantics of definitions |
/// | `mdl.syntax` | their text |
/// | `options` | of the agent |
@NullMarked
package org.mdlagent.runtime;

import org.jspecify.annotations.NullMarked;
