/// The machine code of probes: stubs, recording, snippets, and their unwind tables.
@NullMarked
package org.mdlagent.arch.x86.emit;

import org.jspecify.annotations.NullMarked;
