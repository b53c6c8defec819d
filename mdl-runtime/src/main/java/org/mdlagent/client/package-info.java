/// Measures programs from Java: runs one with the agent or attaches to one that runs, switches what is measured, and
/// reads the results. Scripts of `mdl script` use it; `docs/scripting.md` has examples.
///
/// ```
/// import org.mdlagent.client.*;
///
/// void main(String[] command) {
///     try (Program program = Measurement.counts().run(command)) {
///         program.waitFor();
///         program.snapshot().functions("*").forEach(function -> IO.println(function.calls() + " " + function.name()));
///     }
/// }
/// ```
///
/// All methods throw [MdlException] when mdl, the agent or the program refuses.
@NullMarked
package org.mdlagent.client;

import org.jspecify.annotations.NullMarked;
