/// What runs in the target process beside the shim: the agent's start, its options, and its epochs.
///
/// Packages depend on those below them alone. What is in `cli`, `serve` and `store` never comes into the target
/// process:
///
/// | package | |
/// | --- | --- |
/// | `cli` | the command `mdl` |
/// | `runtime` | the agent |
/// | `serve`, `store` | the server of live sessions, the profiles of runs |
/// | `metric` | metrics in the program |
/// | `mdl.request` | what a metric asks of a program |
/// | `mdl` | what definitions mean |
/// | `mdl.syntax` | their text |
/// | `options` | of the agent |
@NullMarked
package org.mdlagent.runtime;

import org.jspecify.annotations.NullMarked;
